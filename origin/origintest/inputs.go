package origintest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Inputs makes go test repeat a test when one of these files changes, or a file in one
// of these directories. Its cache of passed tests knows the files that the test's own
// process opens, not those that Node, a browser or a command reads, nor the sources of
// a command that the test builds. Hidden directories and node_modules are left out.
func Inputs(t testing.TB, paths ...string) {
	t.Helper()
	for _, root := range paths {
		check(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				return skipped(root, path, d.Name())
			}
			_, err = os.Stat(path) // which the go command notes
			return err
		}))
	}
}

func skipped(root, path, name string) error {
	if path != root && (name == "node_modules" || strings.HasPrefix(name, ".")) {
		return fs.SkipDir
	}
	return nil
}
