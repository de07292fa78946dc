package edge_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

func TestTypeScriptIsStrict(t *testing.T) {
	t.Parallel()
	leftToCI(t)
	needsNode(t)
	out, err := exec.Command("node_modules/.bin/tsc", "-p", ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestUnits runs the unit tests, which are beside the TypeScript code, in Node.
func TestUnits(t *testing.T) {
	needsNode(t)
	moduletest.Inputs(t, ".")
	out, err := exec.Command("node", "test/run.mjs", origintest.ModuleFile(t)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "# fail 0")
}

// The lock files contain checksums but no URL of a registry, so any can be used.
func TestLockFilesNameNoRegistry(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"package-lock.json", "runtimes/package-lock.json", "platforms/package-lock.json"} {
		require.NotContains(t, readFile(t, file), "resolved", file)
		require.NotContains(t, readFile(t, file), "http://", file)
	}
}
