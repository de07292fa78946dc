package edge_test

import (
	"os/exec"
	"path/filepath"
	"testing"
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

// formsProject returns a project with the package and the files of test/forms.
func formsProject(t *testing.T) (project string) {
	t.Helper()
	leftToCI(t)
	needs(t, "test/forms/node_modules", "run npm ci --prefix edge/test/forms")
	project = installPackage(t)
	for _, name := range []string{"page.html", "page.css"} {
		writeText(t, filepath.Join(project, name), readFile(t, filepath.Join("test/forms", name)))
	}
	return project
}
