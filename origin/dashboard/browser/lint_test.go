package browser

import (
	"encoding/json"
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

// TestScriptUnits runs the unit tests of the page Lists in Node. They need no packages.
func TestScriptUnits(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	moduletest.Inputs(t, ".", "../assets", "../../check/input/testdata")
	out, err := exec.Command("node", "--test", "lists.test.mjs").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "# fail 0")
	require.Contains(t, string(out), "# skipped 0")
}

// The file of Papa Parse is that of the package, whose version and checksum are noted
// beside its licence.
func TestPapaParseIsThePackage(t *testing.T) {
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	require.NoError(t, json.Unmarshal(readFile(t, "package-lock.json"), &lock))
	found := lock.Packages["node_modules/papaparse"]
	require.NotEmpty(t, found.Integrity)
	note := string(readFile(t, "../papaparse.txt"))
	require.Contains(t, note, "version    "+found.Version+"\n")
	require.Contains(t, note, "integrity  "+found.Integrity+"\n")
	require.Contains(t, string(readFile(t, "../assets/papaparse.min.js")), "v"+found.Version+"\n")
	needsNode(t)
	require.Equal(t, readFile(t, "node_modules/papaparse/papaparse.min.js"), readFile(t, "../assets/papaparse.min.js"))
	require.Contains(t, note, string(readFile(t, "node_modules/papaparse/LICENSE")))
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	return content
}

func TestLint(t *testing.T) {
	leftToCI(t)
	needsNode(t)
	moduletest.Inputs(t, ".", "../assets", "../../../edge/biome.jsonc")
	out, err := exec.Command("npm", "run", "--silent", "lint").CombinedOutput()
	require.NoError(t, err, "%s", out)
}
