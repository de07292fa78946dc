package edge_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// The dashboard's script is committed, because the origin is built without Node.
func TestScriptOfDashboardIsCurrent(t *testing.T) {
	t.Parallel()
	needsNode(t)
	moduletest.Inputs(t, "package", "src")
	built := filepath.Join(t.TempDir(), "addrspec.js")
	run(t, exec.Command("node", "build.mjs", "script", "-", built))
	require.Equal(t, readFile(t, built), readFile(t, "../origin/dashboard/assets/addrspec.js"),
		"run: node edge/build.mjs script - origin/dashboard/assets/addrspec.js")
}

// So is the live check of the front door, which the demo shares.
func TestLiveCheckOfDashboardIsCurrent(t *testing.T) {
	t.Parallel()
	needsNode(t)
	moduletest.Inputs(t, "demo", "package")
	directory := t.TempDir()
	run(t, exec.Command("node", "build.mjs", "livecheck", "-", directory))
	for _, file := range []string{"livecheck.js", "livecheck.css"} {
		require.Equal(t, readFile(t, filepath.Join(directory, file)), readFile(t, "../origin/dashboard/assets/"+file),
			"run: node edge/build.mjs livecheck - origin/dashboard/assets")
	}
}
