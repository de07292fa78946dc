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
