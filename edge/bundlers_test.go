package edge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/vectors"
)

// Bundlers and frameworks build a page of the installed package as their user does, and
// Chromium opens it: it must give the bytes of core for the golden vectors. They take
// minutes, so they run only with ADDRSPEC_ALL set.
func TestBundlers(t *testing.T) {
	tools := bundlers(t)
	addresses, want := goldenTexts(t)
	for _, c := range []struct {
		name    string
		command []string // builds page.mjs into dist
	}{
		{"vite", []string{"vite", "build", "--target", "es2022"}},
		{"webpack", []string{"webpack", "--mode", "production", "--entry", "./page.mjs", "-o", "dist", "--output-filename", "page.js"}},
		{"parcel", []string{"parcel", "build", "index.html", "--no-cache", "--dist-dir", "dist"}},
		{"esbuild", []string{"esbuild", "page.mjs", "--bundle", "--format=esm", "--conditions=browser", "--outfile=dist/page.js"}},
		{"rollup", []string{"rollup", "page.mjs", "--format", "es", "--file", "dist/page.js", "-p", "node-resolve={browser: true, exportConditions: ['browser']}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			project := bundlerProject(t, tools, "bundlers/app", addresses)
			build := tool(project, c.command...)
			out, err := build.CombinedOutput()
			require.NoError(t, err, "%s", out)
			completeBundle(t, project)
			require.Equal(t, want, drive(t, filepath.Join(project, "dist"), "/"))
		})
	}
}

// Jest requires the package in each of its environments.
func TestJest(t *testing.T) {
	tools := bundlers(t)
	addresses, want := goldenTexts(t)
	project := bundlerProject(t, tools, "bundlers/jest", addresses)
	writeText(t, filepath.Join(project, "results.txt"), want)
	for _, environment := range []string{"node", "jsdom"} {
		t.Run(environment, func(t *testing.T) {
			out, err := tool(project, "jest", "--env", environment).CombinedOutput()
			require.NoError(t, err, "%s", out)
		})
	}
}

// What publishers check finds no fault: the manifest's exports and types resolve.
func TestManifest(t *testing.T) {
	tools := bundlers(t)
	project := bundlerProject(t, tools, "bundlers/app", []byte("[]"))
	tarballs, err := filepath.Glob(filepath.Join(project, "addrspec-*.tgz"))
	require.NoError(t, err)
	require.Len(t, tarballs, 1)
	for _, command := range [][]string{
		{"publint", "--level", "warning", "--strict", tarballs[0]},
		{"attw", tarballs[0], "--profile", "node16", "--exclude-entrypoints", "addrspec.wasm"},
	} {
		out, err := tool(project, command...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

// Vite's development server serves the package, whether it moves it to its cache, as it
// does by default, or not.
func TestViteDevelopmentServer(t *testing.T) {
	tools := bundlers(t)
	addresses, want := goldenTexts(t)
	for name, config := range map[string]string{
		"default": `export default {};`, "excluded": `export default { optimizeDeps: { exclude: ["addrspec"] } };`,
	} {
		t.Run(name, func(t *testing.T) {
			project := bundlerProject(t, tools, "bundlers/app", addresses)
			writeText(t, filepath.Join(project, "vite.config.js"), config)
			url := serveTool(t, project, "vite", "--strictPort", "--host", "127.0.0.1", "--port")
			require.Equal(t, want, drive(t, url, "/"))
		})
	}
}

// Next.js checks in its edge runtime, in Node, in front of every request and in pages:
// built with each of its bundlers, and in development. (With "type": "module" in the
// project, Next.js 16.4.6 with webpack fails at any edge route, also without the package.)
func TestNext(t *testing.T) {
	tools := bundlers(t)
	for bundler, config := range map[string]string{
		"--turbopack": `{}`, "--webpack": `{ serverExternalPackages: ["addrspec"] }`, // as the README says
	} {
		t.Run(bundler, func(t *testing.T) {
			addresses, want := goldenTexts(t)
			project := bundlerProject(t, tools, "bundlers/next", addresses)
			writeText(t, filepath.Join(project, "next.config.mjs"), "export default "+config+";")
			t.Run("dev", func(t *testing.T) { requireNext(t, project, addresses, want, "next", "dev", bundler) })
			out, err := tool(project, "next", "build", bundler).CombinedOutput()
			require.NoError(t, err, "%s", out)
			t.Run("start", func(t *testing.T) { requireNext(t, project, addresses, want, "next", "start") })
		})
	}
}

// requireNext starts the server of project and requires the same facts in each place.
func requireNext(t *testing.T, project string, addresses []byte, want string, command ...string) {
	t.Helper()
	url := serveTool(t, project, append(command, "-H", "127.0.0.1", "-p")...)
	for _, route := range []string{"/edge", "/node"} {
		response, err := http.Post(url+route, "application/json", bytes.NewReader(addresses))
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		response.Body.Close()
		require.Equal(t, want, string(body), route)
		require.Equal(t, "gmail.com", response.Header.Get("Suggestion"))
	}
	require.Equal(t, want, drive(t, url, "/page"))
}

// bundlers returns the directory with the tools.
func bundlers(t *testing.T) string {
	t.Helper()
	if os.Getenv("ADDRSPEC_ALL") == "" {
		t.Skip("left to ./build.sh test all: building with Next.js, Vite, webpack, Parcel and Rollup takes minutes")
	}
	tools, err := filepath.Abs("bundlers/node_modules")
	require.NoError(t, err)
	if _, err := os.Stat(tools); err != nil {
		// npm ci refuses a lock file without the packages of other systems, which a
		// registry may lack; npm install takes the same versions and checksums.
		run(t, exec.Command("npm", "install", "--no-save", "--silent", "--no-audit", "--no-fund", "--prefix", "bundlers"))
	}
	return tools
}

// goldenTexts returns the golden vectors that are UTF-8, as JSON, and their results.
func goldenTexts(t *testing.T) (addresses []byte, want string) {
	t.Helper()
	files, err := vectors.Read("../wasm/vectors")
	require.NoError(t, err)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(files)) { // the same order in every call
		for _, v := range files[name] {
			if utf8.ValidString(v.Email) {
				list, want = append(list, v.Email), want+v.Result+"\n"
			}
		}
	}
	addresses, err = json.Marshal(list)
	require.NoError(t, err)
	return addresses, want
}

// bundlerProject returns a project with the files of from, the package and the tools.
func bundlerProject(t *testing.T, tools, from string, addresses []byte) (project string) {
	t.Helper()
	project = installPackage(t)
	require.NoError(t, os.CopyFS(project, os.DirFS(from)))
	require.NoError(t, os.MkdirAll(filepath.Join(project, "public"), 0o755))
	writeText(t, filepath.Join(project, "public/addresses.json"), string(addresses))
	linkTools(t, tools, filepath.Join(project, "node_modules"))
	return project
}

// linkTools gives a project the tools, as hard links: Next.js does not follow symbolic
// ones out of the project. Half a gigabyte is copied where they cannot be made.
func linkTools(t *testing.T, tools, modules string) {
	t.Helper()
	if exec.Command("cp", "-alf", tools+"/.", modules).Run() != nil {
		run(t, exec.Command("cp", "-af", tools+"/.", modules))
	}
}

// completeBundle adds what a bundler left out: the page of those that bundle a script
// alone, the module for those that do not copy it, and the addresses.
func completeBundle(t *testing.T, project string) {
	t.Helper()
	dist := filepath.Join(project, "dist")
	for name, from := range map[string]string{
		"index.html": "bundle.html", "addresses.json": "public/addresses.json", "addrspec.wasm": "node_modules/addrspec/lib/addrspec.wasm",
	} {
		if _, err := os.Stat(filepath.Join(dist, name)); err != nil {
			writeText(t, filepath.Join(dist, name), readFile(t, filepath.Join(project, from)))
		}
	}
}

func writeText(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}

// tool returns the command that runs one of the tools in project.
func tool(project string, command ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(project, "node_modules/.bin", command[0]), command[1:]...)
	cmd.Dir, cmd.Env = project, append(os.Environ(), "NEXT_TELEMETRY_DISABLED=1", "CI=true")
	return cmd
}

// serveTool starts a server, whose last argument is a port, and waits until it listens.
func serveTool(t *testing.T, project string, command ...string) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	listener.Close()
	cmd := tool(project, append(command, address[strings.LastIndexByte(address, ':')+1:])...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	require.Eventually(t, func() bool {
		connection, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			connection.Close()
		}
		return err == nil
	}, hung, 100*time.Millisecond, "%s", command[0])
	return "http://" + address
}

// drive opens a page in Chromium and returns its result.
func drive(t *testing.T, place, path string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	chromium := toolPath(t, "chromium", "/usr/bin/chromium")
	return string(run(t, exec.CommandContext(ctx, "node", "bundlers/drive.mjs", chromium, place, path)))
}
