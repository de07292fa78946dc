package browser

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// The scripts of the dashboard are plain JavaScript with types in comments.
func TestScriptsAreTyped(t *testing.T) {
	leftToCI(t)
	needsNode(t)
	moduletest.Inputs(t, ".", "../assets", "../../../edge/biome.jsonc")
	out, err := exec.Command("npm", "run", "--silent", "check").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestScriptUnits runs the unit tests of scripts in Node. They need no packages.
func TestScriptUnits(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	moduletest.Inputs(t, ".", "../assets", "../../check/input")
	out, err := exec.Command("node", "--test", "lists.test.mjs", "policy.test.mjs", "search.test.mjs").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "# fail 0")
	require.Contains(t, string(out), "# skipped 0")
}

// The page Lists has Papa Parse as it is in the npm package that package.json pins.
func TestPapaParseIsThePackages(t *testing.T) {
	needsNode(t)
	ours, err := os.ReadFile("../assets/papaparse.min.js")
	require.NoError(t, err)
	theirs, err := os.ReadFile("node_modules/papaparse/papaparse.min.js")
	require.NoError(t, err)
	require.Equal(t, string(theirs), string(ours), "copy the file of the package, and change the version in .ci/dependencies.md")
}

func TestLint(t *testing.T) {
	leftToCI(t)
	needsNode(t)
	moduletest.Inputs(t, ".", "../assets", "../../../edge/biome.jsonc")
	out, err := exec.Command("npm", "run", "--silent", "lint").CombinedOutput()
	require.NoError(t, err, "%s", out)
}
