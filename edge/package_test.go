package edge_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// maxPackage is the largest size of the packed package in bytes.
const maxPackage = 1_150_000

func readFile(t testing.TB, path string) string {
	t.Helper()
	bytes, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(bytes)
}

// consumers are the runtimes that run consumer.mjs.
var consumers = []struct {
	name, file string
	args       []string
}{
	{"node", "", nil},
	{"node 22", "runtimes/node_modules/node-22/bin/node", nil},
	{"deno", "runtimes/node_modules/.bin/deno", []string{"run", "--allow-read", "--allow-net", "--node-modules-dir=manual"}},
	{"bun", "runtimes/node_modules/.bin/bun", nil},
}

// The npm package, packed and installed, works in every runtime and has types.
func TestPackage(t *testing.T) {
	t.Parallel()
	project := installPackage(t)
	want := vectors.Native()("jane@gmial.com", false)
	for _, tool := range consumers {
		t.Run(tool.name, func(t *testing.T) {
			cmd := exec.Command(toolPath(t, tool.name, tool.file), append(slices.Clone(tool.args), "consumer.mjs")...)
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
	for name, start := range map[string]string{
		"cjs": `require("./function.js").results()`, "esm": `import("./function.js").then((bundle) => bundle.results())`,
	} {
		t.Run("bundled for node as "+name, func(t *testing.T) {
			results := strings.Replace(readFile(t, "test/consumer/results.mjs"), `"addrspec"`, `"addrspec/bundled"`, 1)
			writeText(t, filepath.Join(project, "function.mjs"), results)
			alone := t.TempDir()
			cmd := exec.Command(esbuild(t), "function.mjs", "--bundle", "--platform=node", "--target=node20", "--format="+name,
				"--outfile="+filepath.Join(alone, "function.js"), "--log-level=error")
			cmd.Dir = project
			run(t, cmd)
			writeText(t, filepath.Join(alone, "package.json"), `{"type": "`+map[string]string{"cjs": "commonjs", "esm": "module"}[name]+`"}`)
			cmd = exec.Command("node", "-e", start+`.then((results) => console.log(JSON.stringify(results)))`)
			cmd.Dir = alone
			requireResult(t, want, run(t, cmd))
		})
	}
	t.Run("types", func(t *testing.T) {
		leftToCI(t)
		for _, module := range []string{"nodenext", "node16", "esnext", "preserve"} {
			requireTypes(t, project, "consumer.mts", "--module", module)
		}
		for _, module := range []string{"nodenext", "node16"} {
			requireTypes(t, project, "consumer.cts", "--module", module)
		}
		node, err := filepath.Abs("node_modules/@types")
		require.NoError(t, err)
		requireTypes(t, project, "consumer.mts", "--module", "nodenext", "--lib", "es2022", "--typeRoots", node, "--types", "node") // has no WebAssembly
	})
}

// requireTypes compiles a program, strictly, with more options.
func requireTypes(t *testing.T, project, program string, options ...string) {
	t.Helper()
	tsc, err := filepath.Abs("node_modules/.bin/tsc")
	require.NoError(t, err)
	args := append([]string{"--strict", "--noEmit", "--target", "es2022"}, options...)
	if slices.Contains(options, "esnext") {
		args = append(args, "--moduleResolution", "bundler")
	}
	cmd := exec.Command(tsc, append(args, program)...)
	cmd.Dir = project
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%v: %s", options, out)
}

// The package names wrong arguments, takes every kind of source and keeps its limits.
func TestPackageArguments(t *testing.T) {
	t.Parallel()
	leftToCI(t)
	project := installPackage(t)
	module := readFile(t, filepath.Join(project, "node_modules/addrspec/lib/addrspec.wasm"))
	mux := http.NewServeMux()
	mux.HandleFunc("/addrspec.wasm", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, module) })
	mux.HandleFunc("/page.wasm", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<!doctype html>") })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	policies, err := filepath.Abs("../wasm/vectors/policies.jsonl")
	require.NoError(t, err)
	for _, tool := range consumers {
		t.Run(tool.name, func(t *testing.T) {
			args := append(slices.Clone(tool.args), "arguments.mjs", server.URL, policies)
			cmd := exec.Command(toolPath(t, tool.name, tool.file), args...)
			cmd.Dir = project
			require.Equal(t, "ok\n", string(run(t, cmd)))
		})
	}
}

// The package takes newer lists over in every runtime.
func TestPackageUpdatesLists(t *testing.T) {
	t.Parallel()
	leftToCI(t)
	project := installPackage(t)
	f := startFeed(t)
	blob := newer(t, "2031.01.01")
	signed := time.Now().Add(-time.Hour).Truncate(time.Second)
	serve := files(blob, f.signer.sign(blob, signed.Unix(), signed.Add(24*time.Hour).Unix()))
	f.change(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*") // for the page
		serve(w, r)
	})
	want := listsOutcome{
		Before: false, Updated: true, After: true, Again: false,
		Version: versionOf(blob), InUse: versionOf(blob), Verified: versionOf(blob), Signed: signed.Unix(),
		Refused:  "lists.blob.minisig: the feed responded with status 404",
		Damaged:  "the signature does not fit the lists: they are damaged, or other lists were signed",
		Unsigned: "lists: the blob is damaged: its checksum does not match its bytes; fetch or pack it again",
	}
	for _, tool := range consumers {
		t.Run(tool.name, func(t *testing.T) {
			args := append(slices.Clone(tool.args), "consumer.mjs", f.url, f.signer.key())
			cmd := exec.Command(toolPath(t, tool.name, tool.file), args...)
			cmd.Dir = project
			requireOutcome(t, want, run(t, cmd))
		})
	}
	t.Run("workerd", func(t *testing.T) {
		bundleConsumer(t, project, "workerd.js", "workerd")
		p := serveWorkerd(t, filepath.Join(project, "workerd.capnp"))
		query := url.Values{"url": {f.url}, "key": {f.signer.key()}}
		requireOutcome(t, want, []byte(p.send(t, get("/?"+query.Encode())).body))
	})
	t.Run("chromium", func(t *testing.T) {
		path := toolPath(t, "chromium", "/usr/bin/chromium")
		requireOutcome(t, want, run(t, exec.Command("node", "test/consumer/chromium.mjs", path, project, f.url, f.signer.key())))
	})
}

// A listsOutcome is what update.mjs returns.
type listsOutcome struct {
	Before, Updated, After, Again bool
	Version, InUse, Verified      string
	Signed                        int64
	Refused, Damaged, Unsigned    string
}

func requireOutcome(t *testing.T, want listsOutcome, output []byte) {
	t.Helper()
	var got listsOutcome
	require.NoError(t, json.Unmarshal(output, &got), "%.500s", output)
	require.Equal(t, want, got)
}

// addrspec/schema follows its description in every runtime: what it accepts and refuses, with
// which codes, texts and suggestions, whatever it is given. The first result is a promise.
func TestPackageSchema(t *testing.T) {
	t.Parallel()
	project := installPackage(t)
	want := readFile(t, "test/consumer/schema.json")
	for _, tool := range consumers {
		t.Run(tool.name, func(t *testing.T) {
			args := append(slices.Clone(tool.args), "consumer.mjs", "schema")
			cmd := exec.Command(toolPath(t, tool.name, tool.file), args...)
			cmd.Dir = project
			require.JSONEq(t, want, string(run(t, cmd)))
		})
	}
	t.Run("workerd", func(t *testing.T) {
		leftToCI(t)
		bundleConsumer(t, project, "workerd.js", "workerd")
		p := serveWorkerd(t, filepath.Join(project, "workerd.capnp"))
		require.JSONEq(t, want, p.send(t, get("/?url=schema")).body)
	})
	t.Run("chromium", func(t *testing.T) {
		path := toolPath(t, "chromium", "/usr/bin/chromium")
		require.JSONEq(t, want, string(run(t, exec.Command("node", "test/consumer/chromium.mjs", path, project, "schema"))))
	})
}

// A program that does not update its lists contains no cryptography: that is in
// the part addrspec/lists. The bounds are in bytes, minified by esbuild.
func TestPackageWithoutUpdatesIsSmall(t *testing.T) {
	t.Parallel()
	leftToCI(t)
	project := installPackage(t)
	size := func(program string) (size int, code string) {
		require.NoError(t, os.WriteFile(filepath.Join(project, "program.js"), []byte(program), 0o600))
		cmd := exec.Command(esbuild(t), "program.js", "--bundle", "--minify", "--format=esm", "--conditions=browser", "--external:*.wasm")
		cmd.Dir = project
		code = string(run(t, cmd))
		return len(code), code
	}
	without, code := size(`import { check } from "addrspec"; console.log(await check("jane@example.org"));`)
	require.NotContains(t, code, "trusted comment")
	require.LessOrEqual(t, without, 10_500)
	with, code := size(`import { load } from "addrspec"; import { updateLists } from "addrspec/lists"; await updateLists(await load(), { url: "https://lists.example.org", key: "RW" });`)
	require.Contains(t, code, "trusted comment")
	require.LessOrEqual(t, with, 26_100)
	t.Logf("%d bytes without updates, %d with them", without, with)
}

// installPackage packs the package as it is published, installs it in a new project
// and returns the directory.
func installPackage(t *testing.T) (project string) {
	needsNode(t)
	project = t.TempDir()
	pack := exec.Command("./package.sh", project)
	pack.Env = append(os.Environ(), "ADDRSPEC_MODULE="+origintest.ModuleFile(t))
	tarball := strings.TrimSpace(string(run(t, pack)))
	info, err := os.Stat(tarball)
	require.NoError(t, err)
	t.Logf("the package has %d bytes", info.Size())
	require.LessOrEqual(t, info.Size(), int64(maxPackage))
	writeText(t, filepath.Join(project, "package.json"), `{"private": true}`)
	install := exec.Command("npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", tarball)
	install.Dir = project
	run(t, install)
	require.NoError(t, os.CopyFS(project, os.DirFS("test/consumer")))
	addresses, _ := goldenTexts(t)
	writeText(t, filepath.Join(project, "addresses.mjs"), "export default "+string(addresses)+";")
	return project
}

// bundleConsumer bundles a program that imports the package, as a user would.
func bundleConsumer(t *testing.T, project, program, condition string) {
	t.Helper()
	cmd := exec.Command(esbuild(t), program, "--bundle", "--format=esm", "--conditions="+condition, "--external:*.wasm", "--outfile=bundle.js", "--log-level=warning")
	cmd.Dir = project
	run(t, cmd)
	wasm := readFile(t, filepath.Join(project, "node_modules/addrspec/lib/addrspec.wasm"))
	require.NoError(t, os.WriteFile(filepath.Join(project, "addrspec.wasm"), []byte(wasm), 0o600))
}

func esbuild(t *testing.T) (path string) {
	t.Helper()
	path, err := filepath.Abs("node_modules/.bin/esbuild")
	require.NoError(t, err)
	return path
}

func requireResult(t *testing.T, want, output []byte) {
	t.Helper()
	var got struct {
		Facts   json.RawMessage
		Full    string
		Code    string
		Golden  string
		FirstMS float64
	}
	_, golden := goldenTexts(t)
	require.NoError(t, json.Unmarshal(output, &got), "%.300s", output)
	require.Equal(t, string(want), string(got.Facts))
	require.Equal(t, "jane@gmail.com", got.Full)
	require.NotEmpty(t, got.Code)
	require.Equal(t, golden, got.Golden)
	t.Logf("first result after %.1f ms", got.FirstMS)
}
