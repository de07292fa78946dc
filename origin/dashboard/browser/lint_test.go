package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The scripts of the dashboard are plain JavaScript with types in comments.
func TestScriptsAreTyped(t *testing.T) {
	needsNode(t)
	readScripts(t)
	out, err := exec.Command("npm", "run", "--silent", "check").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestLint(t *testing.T) {
	needsNode(t)
	readScripts(t)
	out, err := exec.Command("npm", "run", "--silent", "lint").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// readScripts reads the folders that tsc and biome read. go test repeats a test
// that passed only if what the test itself opened has changed.
func readScripts(t *testing.T) {
	t.Helper()
	for _, folder := range []string{".", "stories", "../assets"} {
		files, err := filepath.Glob(filepath.Join(folder, "*"))
		require.NoError(t, err)
		for _, file := range files {
			if info, err := os.Stat(file); err == nil && !info.IsDir() {
				_, err := os.ReadFile(file)
				require.NoError(t, err)
			}
		}
	}
}
