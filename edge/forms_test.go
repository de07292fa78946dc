package edge_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// <addrspec-email> in Chromium, under a strict Content-Security-Policy: by keyboard, for axe,
// without scripts, without WebAssembly, and how much of it loads before the focus.
func TestElement(t *testing.T) {
	t.Parallel()
	project := formsProject(t)
	chromium := toolPath(t, "chromium", "/usr/bin/chromium")
	out := run(t, exec.Command("node", "test/forms/element.mjs", chromium, project))
	t.Logf("%s bytes load before the focus, with gzip", out)
}

// formsProject returns a project with the package, the files of test/forms, and the table of addresses.
func formsProject(t *testing.T) (project string) {
	t.Helper()
	leftToCI(t)
	needs(t, "test/forms/node_modules", "run npm ci --prefix edge/test/forms")
	project = installPackage(t)
	for _, name := range []string{"test/forms/page.html", "test/forms/page.css", "../wasm/vectors/forms.tsv"} {
		writeText(t, filepath.Join(project, filepath.Base(name)), readFile(t, name))
	}
	return project
}

// readmeFile is a block of the README that begins with the name of its file.
var readmeFile = regexp.MustCompile("(?ms)^```tsx?\n// (\\S+)\n(.*?)^```$")

// The README's files in the real libraries, strictly typed: in Node, and as forms of React in
// Chromium.
func TestForms(t *testing.T) {
	t.Parallel()
	project := formsProject(t)
	chromium := toolPath(t, "chromium", "/usr/bin/chromium")
	files, err := filepath.Glob("test/forms/*.ts*")
	require.NoError(t, err)
	for _, file := range append(files, "test/forms/tsconfig.json") {
		writeText(t, filepath.Join(project, filepath.Base(file)), readFile(t, file))
	}
	snippets := readmeFile.FindAllStringSubmatch(readFile(t, "package/README.md"), -1)
	require.Len(t, snippets, 6)
	for _, snippet := range snippets {
		writeText(t, filepath.Join(project, snippet[1]), snippet[2])
	}
	linkModules(t, project)
	edge, err := filepath.Abs(".")
	require.NoError(t, err)
	bin := filepath.Join(edge, "node_modules/.bin")
	in := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = project
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	in(filepath.Join(bin, "tsc"), "-p", ".")
	in(filepath.Join(bin, "esbuild"), "forms.ts", "--bundle", "--platform=node", "--format=esm", "--packages=external", "--outfile=forms.mjs", "--log-level=warning")
	require.Equal(t, "ok\n", in("node", "forms.mjs"))
	in(filepath.Join(bin, "esbuild"), "page.tsx", "--bundle", "--splitting", "--format=esm", "--conditions=browser", "--define:process.env.NODE_ENV=\"production\"", "--outdir=forms", "--log-level=warning")
	writeText(t, filepath.Join(project, "forms/addrspec.wasm"), readFile(t, origintest.ModuleFile(t)))
	run(t, exec.Command("node", "test/forms/page.mjs", chromium, project))
}

// linkModules gives a project the packages of test/forms besides its own.
func linkModules(t *testing.T, project string) {
	t.Helper()
	for _, pattern := range []string{"test/forms/node_modules/[^.@]*", "test/forms/node_modules/@*/*", "node_modules/@types/node"} {
		packages, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, from := range packages {
			_, name, _ := strings.Cut(filepath.ToSlash(from), "node_modules/")
			from, err = filepath.Abs(from)
			require.NoError(t, err)
			to := filepath.Join(project, "node_modules", name)
			require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
			require.NoError(t, os.Symlink(from, to))
		}
	}
}
