package command

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	testNames = regexp.MustCompile("`(?:[a-z/]+: )?(Test[A-Za-z]+)(…?)`")
	links     = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
)

// Every test that the handbook names exists, so that its "how it was run" stays
// true.
func TestHandbookNamesExistingTests(t *testing.T) {
	t.Parallel()
	existing := testFunctions(t)
	require.Greater(t, len(existing), 300)
	named := 0
	for page, text := range handbook(t) {
		for _, found := range testNames.FindAllStringSubmatch(text, -1) {
			require.True(t, exists(existing, found[1], found[2] != ""), "%s names %s", page, found[1])
			named++
		}
	}
	require.Greater(t, named, 10)
}

func exists(functions map[string]bool, name string, prefix bool) bool {
	for f := range functions {
		if f == name || prefix && strings.HasPrefix(f, name) {
			return true
		}
	}
	return false
}

// Every file that the handbook links to exists.
func TestHandbookLinks(t *testing.T) {
	t.Parallel()
	checked := 0
	for page, text := range handbook(t) {
		for _, found := range links.FindAllStringSubmatch(text, -1) {
			checked++
			require.FileExists(t, filepath.Join(filepath.Dir(page), filepath.FromSlash(found[1])), page)
		}
	}
	require.Greater(t, checked, 30)
}

// handbook returns the text of each page.
func handbook(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../deploy/*.md")
	require.NoError(t, err)
	pages := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		pages[file] = string(text)
	}
	return pages
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// testFunctions returns the names of all tests of the repository. It leaves out dist, whose
// changes would make Go run this package's tests again.
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, room := range []string{"core", "wasm", "origin", "edge", "lists"} {
		require.NoError(t, filepath.WalkDir("../../"+room, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.Name() == "node_modules":
				return fs.SkipDir
			case !strings.HasSuffix(path, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(path)
			for _, found := range testFunction.FindAllStringSubmatch(string(text), -1) {
				names[found[1]] = true
			}
			return err
		}))
	}
	return names
}

// Whatever explains mx says that a domain without MX records may take mail (RFC 5321
// section 5.1): people delete addresses for what they read there.
func TestExplanationsOfMXNameTheAddressRecord(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"../../README.md", "../check/README.md", "../mcp/README.md", "../mcp/text.go", "../../wasm/result/words.go", "../dashboard/templates/lists.html",
		"../api/openapi.json", "../api/openapi-edge.json", "../deploy/hooks.md", "../dashboard/docs/reference/result.md",
		"../dashboard/docs/guides/start.md", "../dashboard/docs/guides/lists.md", "../dashboard/docs/examples/clean-list/main.go",
		"../dashboard/docs/examples/clean-list/example.py", "../dashboard/docs/examples/clean-list/example.mjs",
		"../../edge/README.md", "../../wasm/ABI.md", "../../wasm/bindings/README.md",
	} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Regexp(t, `address\s+record(,? if\s+it\s+has| \(RFC 5321)|may still go to its address record`, string(text), file)
		require.NotRegexp(t, "(?i)mx`? is false \\| (remove|the domain (has no mail server|takes no mail))|false: the domain most likely", string(text), file)
	}
}
