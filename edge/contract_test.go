package edge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
)

// TestContract runs the origin's suite (TestContract there) through the worker.
func TestContract(t *testing.T) {
	o := startOrigin(t, "--dns", contract.Serve(t), "--dns-timeout", "500ms", "--batch-timeout", "20s")
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			w := runtime.start(t, "http://"+o.hostPort)
			t.Run("cases", func(t *testing.T) {
				contract.Run(t, contract.Cases(t), w.hostPort, o.ledger, contract.NewSurvey(t, ""))
			})
			requireNoSecrets(t, w)
		})
	}
	requireNoSecrets(t, o.process)
}

// requireNoSecrets requires that no address and no key is in the log.
func requireNoSecrets(t *testing.T, p *process) {
	t.Helper()
	require.NotContains(t, p.log.String(), "@", "the log contains an address")
	require.NotContains(t, p.log.String(), "ask_", "the log contains a key")
}
