package moduletest

import (
	"cmp"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Tool returns the path of a program: name, as exec.LookPath finds it, or the first of
// places that is there. It skips the test if the program is missing or does not work,
// such as the cargo of a rustup without a toolchain.
func Tool(t testing.TB, name string, places ...string) string {
	t.Helper()
	for _, place := range append([]string{name}, places...) {
		path, err := exec.LookPath(place)
		if err != nil {
			continue
		}
		if why := brokenBecause(path); why != "" {
			t.Skipf("skipped: %s does not work: %s", name, why)
		}
		return path
	}
	t.Skipf("skipped: %s is not installed", name)
	return ""
}

// broken has the reasons why programs do not work, by path.
var broken sync.Map

// brokenBecause runs the program once, for its version, and returns the first line of
// what it prints if it fails.
func brokenBecause(path string) string {
	once, _ := broken.LoadOrStore(path, sync.OnceValue(func() string {
		out, err := exec.Command(path, versionFlag(filepath.Base(path))).CombinedOutput()
		if err == nil {
			return ""
		}
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return cmp.Or(line, err.Error())
	}))
	return once.(func() string)()
}

// versionFlag returns the argument with which a program prints its version: those of
// Java 8 know the short form only.
func versionFlag(program string) string {
	if program == "java" || program == "javac" {
		return "-version"
	}
	return "--version"
}

// Inputs lists the directories below roots, except hidden ones and those of packages and builds. A test
// calls it for the files that only other programs open: go test repeats a test that
// passed if what the test itself opened has changed, and an opened directory changes
// with its files.
func Inputs(t testing.TB, roots ...string) {
	t.Helper()
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && path != root && entry.IsDir() && isBuilt(entry.Name()) {
				return filepath.SkipDir
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func isBuilt(dir string) bool {
	return strings.HasPrefix(dir, ".") || slices.Contains([]string{"node_modules", "target", "__pycache__"}, dir)
}
