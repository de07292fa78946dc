package edge_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The dashboard's script is committed, because the origin is built without Node.
func TestScriptOfDashboardIsCurrent(t *testing.T) {
	needsNode(t)
	readFolders(t, "package", "src")
	built := filepath.Join(t.TempDir(), "addrspec.js")
	run(t, exec.Command("node", "build.mjs", "script", "-", built))
	require.Equal(t, readFile(t, built), readFile(t, "../origin/dashboard/assets/addrspec.js"),
		"run: node edge/build.mjs script - origin/dashboard/assets/addrspec.js")
}
