package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSettled runs near and the packer on the committed tables and requires the
// committed bytes: ./build.sh lists would change nothing.
func TestSettled(t *testing.T) {
	if os.Getenv("ADDRSPEC_ALL") == "" {
		t.Skip("left to ./build.sh test all: fetches seven npm packages and checks 12 million domains")
	}
	dir := copyLists(t)
	require.NoError(t, run(dir))
	pack(t, dir)
	requireCommitted(t, dir)
}

// TestSettledOffline does the same with the rows of near.txt in place of the
// sources. Unlike TestSettled it cannot find names that near would add.
func TestSettledOffline(t *testing.T) {
	dir := copyLists(t)
	path := filepath.Join(dir, "near.txt")
	names, err := readNames(path)
	require.NoError(t, err)
	require.NoError(t, rewrite(path, headerOf(t, path), names))
	pack(t, dir)
	requireCommitted(t, dir)
}

// headerOf returns the comment at the head of near.txt, which must list the
// sources of this program.
func headerOf(t *testing.T, path string) (header string) {
	table, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(table)) {
		if strings.HasPrefix(line, "#") {
			header += line
		}
	}
	lines, found := strings.CutPrefix(header, tableHeader)
	require.True(t, found, "run ./build.sh lists")
	require.Equal(t, len(sources), strings.Count(lines, "\n"), "run ./build.sh lists")
	for _, s := range sources {
		require.Contains(t, lines, "# "+s.spec+" "+s.licence+" ", "run ./build.sh lists")
	}
	return header
}

// copyLists copies the tables to a temporary folder.
func copyLists(t *testing.T) (dir string) {
	dir = t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(listsDir)))
	return dir
}

func pack(t *testing.T, dir string) {
	out, err := exec.Command("go", "run", "github.com/addrspec/addrspec/lists/pack", "-dir", dir).CombinedOutput()
	require.NoError(t, err, string(out))
}

// requireCommitted fails unless near.txt and lists.blob in dir have the
// committed bytes.
func requireCommitted(t *testing.T, dir string) {
	for _, file := range []string{"near.txt", "lists.blob"} {
		got, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join(listsDir, file))
		require.NoError(t, err)
		require.True(t, string(got) == string(want), "%s is out of date: run ./build.sh lists", file)
	}
}
