package edge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/contract"
)

// The suite that the origin holds (origin/e2e_test.go), through the worker.
func TestWorkerHoldsTheContract(t *testing.T) {
	o := startOrigin(t, "--dns", contract.Serve(t), "--dns-timeout", "500ms", "--batch-timeout", "20s")
	w := startWorkerd(t, "http://"+o.hostPort)
	t.Run("cases", func(t *testing.T) { contract.Run(t, w.hostPort, o.ledger) })
	for name, p := range map[string]*process{"origin": o.process, "worker": w} {
		require.NotContains(t, p.said.String(), "@", "the log of the %s holds an address", name)
		require.NotContains(t, p.said.String(), "ask_", "the log of the %s holds a key", name)
	}
}
