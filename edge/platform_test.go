package edge_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// Wrangler, Cloudflare's own tool, accepts the configuration. It runs offline, with the Node
// that the README says it needs.
func TestWranglerConfiguration(t *testing.T) {
	t.Parallel()
	wrangler, err := filepath.Abs("runtimes/node_modules/wrangler/bin/wrangler.js")
	require.NoError(t, err)
	needs(t, wrangler, "npm ci --prefix edge/runtimes installs it")
	node := toolPath(t, "node 22", "runtimes/node_modules/node-22/bin/node")
	require.Contains(t, readFile(t, "runtimes/node_modules/wrangler/package.json"), `"node": ">=22.0.0"`)
	require.Contains(t, readFile(t, "README.md"), "wrangler needs Node 22 or later")
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(bundle(t))))
	// As an operator with a feed fills it in.
	config := filepath.Join(dir, "wrangler.jsonc")
	text := readFile(t, config)
	require.Contains(t, text, `"crons": []`)
	text = strings.Replace(text, `"crons": []`, `"crons": ["17 */6 * * *"]`, 1)
	text = strings.Replace(text, `"ADDRSPEC_LISTS_URL": ""`, `"ADDRSPEC_LISTS_URL": "https://lists.example.org/feed/"`, 1)
	require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
	cmd := exec.Command(node, wrangler, "deploy", "--dry-run", "--outdir", "out", "--var", "ADDRSPEC_ORIGIN:https://origin.example.org")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CI=1", "NO_COLOR=1", "WRANGLER_SEND_METRICS=false", "WRANGLER_LOG_PATH="+dir, "XDG_CONFIG_HOME="+dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "WARNING", "%s", out)
	require.Contains(t, string(out), "Total Upload")
	require.Contains(t, string(out), "env.ADDRSPEC_ORIGIN")
	require.Contains(t, string(out), "https://lists.example.org/feed/")
	t.Logf("%s", out)
}

// The demo page works in Chromium when opened from disk.
func TestDemo(t *testing.T) {
	t.Parallel()
	needsNode(t)
	chromium := toolPath(t, "chromium", "/usr/bin/chromium")
	page := filepath.Join(t.TempDir(), "demo.html")
	run(t, exec.Command("node", "build.mjs", "demo", origintest.ModuleFile(t), page))
	t.Logf("%s", run(t, exec.Command("node", "test/demo.mjs", chromium, page)))
}

// The task in the bundle's deno.json starts the worker.
func TestDenoTask(t *testing.T) {
	t.Parallel()
	w := command("deno", "runtimes/node_modules/.bin/deno", "task", "--quiet", "start")(t, "http://127.0.0.1:9")
	requireUnavailable(t, w.send(t, get("/v1/email/jane@mail.example", wellFormedKey)))
}
