package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGoClient makes the client with oapi-codegen.
func TestGoClient(t *testing.T) {
	leaveToCI(t)
	t.Parallel()
	generator := oapiCodegen(t)
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS("go")))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "client"), 0o755))
	if out, err := exec.Command("go", "-C", folder, "mod", "download").CombinedOutput(); err != nil {
		t.Skipf("the modules that a client needs could not be fetched: %s", out)
	}
	generator.generate(t, folder)
	run(t, folder, nil, "go", "vet", ".")
	require.Equal(t, output, run(t, folder, start(t).environment(t), "go", "run", "."))
}

// oapiCodegen returns the tool that .ci/tools/go.mod pins. go tool -n builds it
// and prints its path.
func oapiCodegen(t *testing.T) tool {
	t.Helper()
	out, err := exec.Command("go", "tool", "-modfile=../../../.ci/tools/go.mod", "-n", "oapi-codegen").CombinedOutput()
	if err != nil {
		t.Skipf("oapi-codegen could not be fetched: %s", out)
	}
	program := strings.TrimSpace(string(out))
	name := strings.Fields(run(t, ".", nil, program, "-version")) // path and version
	return tool{"go run " + strings.Join(name, "@"), []string{program}}
}
