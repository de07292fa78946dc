package core_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/addrspec/addrspec/"

// forbidden are the packages that core and lists must not import, even
// indirectly, and why. Their tests may import them.
var forbidden = map[string]string{
	"net":                            "core does no I/O: the origin looks up MX records",
	"os":                             "core reads no files and no environment; the module has neither",
	"encoding/json":                  "adds 304 KB gzip to the module; core writes its JSON itself",
	"fmt":                            "adds 189 KB gzip to the module",
	"regexp":                         "adds 173 KB gzip to the module, and is slow",
	"golang.org/x/net/idna":          "adds 298 KB gzip to the module; core/idna replaces it",
	"golang.org/x/text/unicode/norm": "adds 156 KB gzip to the module; core/idna replaces it",
	"github.com/tetratelabs/wazero":  "core does not depend on its hosts",
	module + "wasm":                  "the module depends on core, not the reverse",
}

// TestListsImports checks that lists and its tools import nothing else of this
// module.
func TestListsImports(t *testing.T) {
	for _, dep := range moduleDeps(t, "lists/...") {
		require.True(t, dep == "lists" || strings.HasPrefix(dep, "lists/"), "lists imports %s", dep)
	}
}

// TestIDNAImports checks that idna imports no package of this module but the
// helpers for bytes: core depends on idna, not the reverse.
func TestIDNAImports(t *testing.T) {
	require.Equal(t, []string{"core/internal/ascii", "core/idna"}, moduleDeps(t, "core/idna"))
}

func TestForbiddenImports(t *testing.T) {
	for _, root := range []string{"core", "lists"} {
		all := deps(t, root)
		require.Contains(t, all, module+root)
		for _, dep := range all {
			for path, why := range forbidden {
				require.False(t, dep == path || strings.HasPrefix(dep, path+"/"), "%s imports %s: %s", root, dep, why)
			}
		}
	}
}

// TestNoToolchainTables checks that core and lists use no table of Unicode whose
// version is the toolchain's: what builds the module does not decide the results.
func TestNoToolchainTables(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} imports{{range .Imports}} {{.}}{{end}}.", module+"core", module+"lists").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, module) {
			require.NotRegexp(t, ` (unicode|golang\.org/x/(text|net)\S*)[ .]`, line)
		}
	}
}

// deps lists the packages that those matching pattern depend on, and themselves.
func deps(t *testing.T, pattern string) []string {
	out, err := exec.Command("go", "list", "-deps", module+pattern).Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

// moduleDeps lists those of deps that are in this module, without its path.
func moduleDeps(t *testing.T, pattern string) (ours []string) {
	for _, dep := range deps(t, pattern) {
		if path, ok := strings.CutPrefix(dep, module); ok {
			ours = append(ours, path)
		}
	}
	return ours
}
