package edge_test

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLint checks that biome would neither reformat nor report the TypeScript
// and JavaScript of edge/ and wasm/. biome.jsonc has the rules; "npm run format"
// fixes what can be fixed automatically.
func TestLint(t *testing.T) {
	needsNode(t)
	readFolders(t, ".", "../wasm")
	out, err := exec.Command("npm", "run", "--silent", "lint").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// readFolders reads all folders below roots. go test repeats a test that passed
// only if what the test itself opened has changed, and does not see what tsc,
// esbuild and biome open.
func readFolders(t *testing.T, roots ...string) {
	t.Helper()
	for _, root := range roots {
		require.NoError(t, filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return err
		}))
	}
}
