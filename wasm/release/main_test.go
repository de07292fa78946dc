package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// newTree makes a repository with one commit of these files, by name.
func newTree(t *testing.T, files map[string]string) *tree {
	t.Helper()
	root := t.TempDir()
	write(t, root, files)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "first"}} {
		_, err := git(t.Context(), root, args...)
		require.NoError(t, err)
	}
	tree, err := openTreeIn(t.Context(), root)
	require.NoError(t, err)
	return tree
}

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// ourTree returns the checkout that the tests are in.
func ourTree(t *testing.T) *tree {
	t.Helper()
	tree, err := openTree(t.Context())
	if err != nil {
		t.Skipf("needs a git checkout: %v", err)
	}
	return tree
}

func TestWrongCommandLines(t *testing.T) {
	for _, args := range []string{"", "ship", "build extra", "build -x", "goproxy", "goproxy a b", "tag now", "version unset 1", "version set", "version set 1.0", "version set 1.0.0-rc1", "version set 01.0.0"} {
		t.Run(args, func(t *testing.T) {
			require.ErrorAs(t, run(t.Context(), strings.Fields(args), io.Discard), new(usageError))
		})
	}
}

func TestFilesOfATree(t *testing.T) {
	tree := newTree(t, map[string]string{".gitignore": "built\n", "a/b": "1", "gone": "2", "ümläut \"x\"": "3"})
	require.False(t, tree.dirty)
	write(t, tree.root, map[string]string{"new": "4", "built": "5"})
	require.NoError(t, os.Remove(filepath.Join(tree.root, "gone")))
	require.NoError(t, os.Symlink("a/b", filepath.Join(tree.root, "link")))
	names, err := tree.files(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{".gitignore", "a/b", "new", "ümläut \"x\""}, names)
	again, err := openTreeIn(t.Context(), tree.root)
	require.NoError(t, err)
	require.True(t, again.dirty)
	require.True(t, strings.HasSuffix(again.label(), ".dirty"))
	require.Len(t, tree.label(), commitLen)
}

func TestNoCheckout(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := openTree(t.Context())
	require.ErrorContains(t, err, "a release needs a git checkout")
}

// A dirty tree is refused before anything is built.
func TestDirtyTreeIsRefused(t *testing.T) {
	tree := newTree(t, map[string]string{"a": "1"})
	write(t, tree.root, map[string]string{"a": "2"})
	t.Chdir(tree.root)
	require.ErrorContains(t, run(t.Context(), []string{"build"}, io.Discard), "--dirty")
	require.ErrorContains(t, run(t.Context(), []string{"tag"}, io.Discard), "the tree differs from its commit")
	require.NoDirExists(t, filepath.Join(tree.root, "dist"))
}

// testRelease returns a release of a tree with one file whose steps a test runs.
func testRelease(t *testing.T) *release {
	t.Helper()
	tree := newTree(t, map[string]string{"LICENSE": "text"})
	return &release{tree: tree, version: "1.2.3", out: t.TempDir(), log: io.Discard}
}

// withSteps replaces the steps of all releases for the time of a test.
func withSteps(t *testing.T, run func(*release, context.Context) error) {
	t.Helper()
	old := steps
	t.Cleanup(func() { steps = old })
	steps = steps[:0:0]
	steps = append(steps, old[0])
	steps[0].name, steps[0].run = "test", run
}

// A build that fails or is interrupted leaves the old release, and nothing beside it.
func TestFailedBuildLeavesTheOldRelease(t *testing.T) {
	r := testRelease(t)
	final := filepath.Join(t.TempDir(), "release")
	write(t, final, map[string]string{sumsFile: "old"})
	ctx, cancel := context.WithCancel(t.Context())
	withSteps(t, func(r *release, ctx context.Context) error {
		write(t, r.out, map[string]string{"half": "x"})
		cancel()
		return ctx.Err()
	})
	require.ErrorIs(t, r.buildInto(ctx, final), context.Canceled)
	entries, err := os.ReadDir(filepath.Dir(final))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.FileExists(t, filepath.Join(final, sumsFile))
}

// A directory with other files is not replaced.
func TestOtherDirectoryIsRefused(t *testing.T) {
	r := testRelease(t)
	home := t.TempDir()
	write(t, home, map[string]string{"thesis.txt": "x"})
	withSteps(t, func(*release, context.Context) error { return nil })
	require.ErrorContains(t, r.buildInto(t.Context(), home), "name another directory")
	require.FileExists(t, filepath.Join(home, "thesis.txt"))
	file := filepath.Join(home, "thesis.txt")
	require.Error(t, r.buildInto(t.Context(), file))
}

// The key is read before the minutes of building.
func TestBadKeyFailsFirst(t *testing.T) {
	r := testRelease(t)
	withSteps(t, func(*release, context.Context) error { t.Error("a step ran"); return nil })
	r.key = filepath.Join(r.root, "missing.key")
	require.ErrorIs(t, r.buildInto(t.Context(), filepath.Join(t.TempDir(), "x")), os.ErrNotExist)
	r.key = filepath.Join(r.root, "LICENSE")
	require.ErrorContains(t, r.buildInto(t.Context(), filepath.Join(t.TempDir(), "x")), "not a secret key of minisign")
}

func TestPackageScripts(t *testing.T) {
	r := testRelease(t)
	write(t, r.root, map[string]string{
		"wasm/bindings/good/package.sh":         `echo "$SOURCE_DATE_EPOCH" >"$1/made"; echo "$1/made"`,
		"wasm/bindings/good/engines/package.sh": `echo >"$1/made for engines"`,
		"wasm/bindings/skipped/package.sh":      `echo noise; echo 'skipped: skipped: install its tool'; exit 3`,
	})
	require.NoError(t, r.packages(t.Context()))
	made, err := os.ReadFile(r.inOut("made"))
	require.NoError(t, err)
	require.Equal(t, r.time.Unix(), parseUnix(t, string(made)))
	require.FileExists(t, r.inOut("made for engines"))
	require.Equal(t, []string{"wasm/bindings/skipped/package.sh: skipped: install its tool"}, r.skipped)
	write(t, r.root, map[string]string{"edge/package.sh": "echo why >&2; exit 1"})
	require.ErrorContains(t, r.packages(t.Context()), "why")
}

func parseUnix(t *testing.T, text string) int64 {
	t.Helper()
	d, err := time.ParseDuration(strings.TrimSpace(text) + "s")
	require.NoError(t, err)
	return int64(d / time.Second)
}

// program runs a program of this machine, or skips the test.
func programOutput(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(moduletest.Tool(t, name), args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", name, out)
	return string(out)
}
