package clients_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// descriptions are the files that the linters read.
var descriptions = []string{"../../api/openapi.json", "../../api/openapi-edge.json"}

// TestLint requires that neither linter has a warning, with all rules that they
// recommend.
func TestLint(t *testing.T) {
	leaveToCI(t)
	for name, arguments := range map[string][]string{
		"redocly":  {"lint", "--config", "redocly.yaml"},
		"spectral": {"lint", "--ruleset", "spectral.yaml", "--fail-severity", "hint"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quiet := []string{"REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true"}
			readDescriptions(t)
			run(t, ".", quiet, append([]string{npmProgram(t, name)}, append(arguments, descriptions...)...)...)
		})
	}
}

// readDescriptions reads what the linters read. go test repeats a test that
// passed only if what the test itself opened has changed.
func readDescriptions(t *testing.T) {
	t.Helper()
	for _, file := range append([]string{"redocly.yaml", "spectral.yaml"}, descriptions...) {
		_, err := os.ReadFile(file)
		require.NoError(t, err)
	}
}

// TestTypeScriptClient makes types with openapi-typescript, checks a program that
// uses them with tsc, and runs it in Node.
func TestTypeScriptClient(t *testing.T) {
	leaveToCI(t)
	t.Parallel()
	generator := tool{"npx openapi-typescript@" + npmVersion(t, "openapi-typescript"), []string{npmProgram(t, "openapi-typescript")}}
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS("typescript")))
	require.NoError(t, os.Symlink(absolute(t, "node_modules"), filepath.Join(folder, "node_modules")))
	generator.generate(t, folder)
	run(t, folder, nil, npmProgram(t, "tsc"))
	require.Equal(t, output, run(t, folder, start(t).environment(t), "node", "use.js"))
}

// npmProgram returns the path of a program of package.json, and skips the test
// if npm has not installed it.
func npmProgram(t *testing.T, name string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node is not installed")
	}
	path := absolute(t, filepath.Join("node_modules", ".bin", name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s could not be fetched: npm ci --prefix origin/contract/clients", name)
	}
	return path
}

// npmVersion returns the version of a package that package.json pins.
func npmVersion(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("package.json")
	require.NoError(t, err)
	var manifest struct{ DevDependencies map[string]string }
	require.NoError(t, json.Unmarshal(text, &manifest))
	require.Contains(t, manifest.DevDependencies, name)
	return manifest.DevDependencies[name]
}
