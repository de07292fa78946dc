package edge_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// needScripts has the directories whose packages need their install scripts: bun fetches its program by
// one, and workerd replaces its launcher by the program, which tests signal.
var needScripts = map[string]bool{"edge": true, "edge/runtimes": true}

// npm runs no script of a package where none is needed: a script could do anything on the machine.
func TestPackagesRunNoScripts(t *testing.T) {
	found := 0
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "dist"):
			return fs.SkipDir
		case entry.Name() != "package-lock.json" || path == "../core/eval/peers/node/package-lock.json": // npm ci --ignore-scripts
			return nil
		}
		found++
		directory := filepath.Dir(path)
		settings, _ := os.ReadFile(filepath.Join(directory, ".npmrc"))
		name := strings.TrimPrefix(directory, "../")
		require.Equal(t, !needScripts[name], strings.Contains(string(settings), "\nignore-scripts=true\n"), "%s/.npmrc", name)
		return nil
	}))
	require.Greater(t, found, 7)
}
