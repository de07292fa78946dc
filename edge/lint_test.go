package edge_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// TestLint checks that biome would neither reformat nor report the TypeScript
// and JavaScript of edge/ and wasm/. biome.jsonc has the rules; "npm run format"
// fixes what can be fixed automatically.
func TestLint(t *testing.T) {
	t.Parallel()
	leftToCI(t)
	needsNode(t)
	moduletest.Inputs(t, ".", "../wasm")
	out, err := exec.Command("npm", "run", "--silent", "lint").CombinedOutput()
	require.NoError(t, err, "%s", out)
}
