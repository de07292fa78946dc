package browser

import (
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

func TestLint(t *testing.T) {
	leftToCI(t)
	needsNode(t)
	moduletest.Inputs(t, ".", "../assets", "../../../edge/biome.jsonc")
	out, err := exec.Command("npm", "run", "--silent", "lint").CombinedOutput()
	require.NoError(t, err, "%s", out)
}
