package edge_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// A runtime is a platform on which the worker runs.
type runtime struct {
	name  string
	start func(t testing.TB, originURL string, settings ...string) *process
	// foldsSlashes reports whether it replaces "//" at the start of a path by "/".
	foldsSlashes bool
}

var runtimes = []runtime{
	{"workerd", startWorkerd, false},
	{"node", command("node", "", "node.js"), false},
	{"deno", command("deno", "runtimes/node_modules/.bin/deno", "run", "--no-remote", "--allow-net", "--allow-env", "--allow-read", "deno.js"), false},
	{"bun", command("bun", "runtimes/node_modules/.bin/bun", "--max-http-header-size=65536", "node.js"), true},
}

// command returns a function that runs the worker with a tool, on the PATH or in
// file.
func command(tool, file string, args ...string) func(testing.TB, string, ...string) *process {
	return func(t testing.TB, originURL string, settings ...string) *process {
		t.Helper()
		cmd := exec.Command(toolPath(t, tool, file), args...)
		cmd.Dir = bundle(t)
		cmd.Env = append(os.Environ(), "LISTEN=127.0.0.1:0", "ADDRSPEC_ORIGIN="+originURL, "ADDRSPEC_EDGE_SECRET="+secret,
			"DENO_NO_UPDATE_CHECK=1", "DENO_DIR="+filepath.Join(os.TempDir(), "addrspec-test-deno"))
		cmd.Env = append(cmd.Env, settings...)
		return startServer(t, cmd)
	}
}

// toolPath returns the path of a tool. If it is not installed, or does not work, it
// skips the test. The fast layer uses none but Node.
func toolPath(t testing.TB, tool, file string) string {
	t.Helper()
	if tool != "node" {
		leftToCI(t)
	}
	path, err := filepath.Abs(file)
	require.NoError(t, err)
	return moduletest.Tool(t, tool, path)
}
