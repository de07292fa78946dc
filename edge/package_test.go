package edge_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/origintest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// maxPackage is the largest size of the packed package in bytes.
const maxPackage = 1_100_000

func readFile(t testing.TB, path string) string {
	t.Helper()
	bytes, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(bytes)
}

// The npm package, packed and installed, works in every runtime and has types.
func TestPackage(t *testing.T) {
	project := installPackage(t)
	want := vectors.Native()("jane@gmial.com", false)
	for _, tool := range []struct {
		name, file string
		args       []string
	}{
		{"node", "", nil},
		{"deno", "runtimes/node_modules/.bin/deno", []string{"run", "--allow-read", "--node-modules-dir=manual"}},
		{"bun", "runtimes/node_modules/.bin/bun", nil},
	} {
		t.Run(tool.name, func(t *testing.T) {
			cmd := exec.Command(toolPath(t, tool.name, tool.file), append(tool.args, "consumer.mjs")...)
			cmd.Dir = project
			requireResult(t, want, run(t, cmd))
		})
	}
	t.Run("workerd", func(t *testing.T) {
		bundleConsumer(t, project, "workerd.js", "workerd")
		p := serveWorkerd(t, filepath.Join(project, "workerd.capnp"))
		requireResult(t, want, []byte(p.send(t, get("/")).body))
	})
	t.Run("chromium", func(t *testing.T) {
		path := toolPath(t, "chromium", "/usr/bin/chromium")
		requireResult(t, want, run(t, exec.Command("node", "test/consumer/chromium.mjs", path, project)))
	})
	t.Run("types", func(t *testing.T) {
		tsc, err := filepath.Abs("node_modules/.bin/tsc")
		require.NoError(t, err)
		cmd := exec.Command(tsc, "--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "consumer.mts")
		cmd.Dir = project
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	})
}

// installPackage packs edge/ as npm would publish it, installs it in a new project
// and returns the folder.
func installPackage(t *testing.T) (project string) {
	needsNode(t)
	project = t.TempDir()
	staged := filepath.Join(project, "staged")
	require.NoError(t, os.CopyFS(filepath.Join(staged, "package"), os.DirFS("package")))
	for _, file := range []string{"package.json", "README.md"} {
		require.NoError(t, os.WriteFile(filepath.Join(staged, file), []byte(readFile(t, file)), 0o600))
	}
	run(t, exec.Command("node", "build.mjs", "package", origintest.ModuleFile(t), filepath.Join(staged, "lib")))
	pack := exec.Command("npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", project)
	pack.Dir = staged
	tarball := filepath.Join(project, strings.TrimSpace(string(run(t, pack))))
	info, err := os.Stat(tarball)
	require.NoError(t, err)
	t.Logf("the package has %d bytes", info.Size())
	require.LessOrEqual(t, info.Size(), int64(maxPackage))
	module := filepath.Join(project, "node_modules", "addrspec")
	require.NoError(t, os.MkdirAll(module, 0o755))
	run(t, exec.Command("tar", "-xzf", tarball, "-C", module, "--strip-components=1"))
	require.NoError(t, os.RemoveAll(staged))
	require.NoError(t, os.CopyFS(project, os.DirFS("test/consumer")))
	return project
}

// bundleConsumer bundles a program that imports the package, as a user would.
func bundleConsumer(t *testing.T, project, program, condition string) {
	t.Helper()
	esbuild, err := filepath.Abs("node_modules/.bin/esbuild")
	require.NoError(t, err)
	cmd := exec.Command(esbuild, program, "--bundle", "--format=esm", "--conditions="+condition, "--external:*.wasm", "--outfile=bundle.js", "--log-level=warning")
	cmd.Dir = project
	run(t, cmd)
	wasm := readFile(t, filepath.Join(project, "node_modules/addrspec/lib/addrspec.wasm"))
	require.NoError(t, os.WriteFile(filepath.Join(project, "addrspec.wasm"), []byte(wasm), 0o600))
}

func requireResult(t *testing.T, want, output []byte) {
	t.Helper()
	var got struct {
		Facts   json.RawMessage
		Full    string
		Code    string
		FirstMS float64
	}
	require.NoError(t, json.Unmarshal(output, &got), "%.300s", output)
	require.Equal(t, string(want), string(got.Facts))
	require.Equal(t, "jane@gmail.com", got.Full)
	require.NotEmpty(t, got.Code)
	t.Logf("first result after %.1f ms", got.FirstMS)
}
