package edge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/contract"
)

// The suite that the origin holds (origin/e2e_test.go), through the worker.
func TestWorkerHoldsTheContract(t *testing.T) {
	o := startOrigin(t, "--dns", contract.Serve(t), "--dns-timeout", "500ms", "--batch-timeout", "20s")
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			w := runtime.start(t, "http://"+o.hostPort)
			t.Run("cases", func(t *testing.T) { contract.Run(t, w.hostPort, o.ledger) })
			requireSilent(t, w)
		})
	}
	requireSilent(t, o.process)
}

// requireSilent requires a log without an address and without a key.
func requireSilent(t *testing.T, p *process) {
	t.Helper()
	require.NotContains(t, p.log.String(), "@", "the log holds an address")
	require.NotContains(t, p.log.String(), "ask_", "the log holds a key")
}
