package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// listsDir is the directory of the committed tables.
const listsDir = "../../../lists"

// TestRowsAreNeeded fails if near.txt has a row that the check would not correct
// without it, so that near.txt is out of date.
func TestRowsAreNeeded(t *testing.T) {
	c, err := openChecker(listsDir)
	require.NoError(t, err)
	names := readNames(t)
	require.Greater(t, len(names), 100)
	for name := range names {
		require.True(t, c.wouldCorrect(name), "%s: run ./build.sh lists", name)
	}
}

// readNames returns the names in near.txt.
func readNames(t *testing.T) map[string]bool {
	table, err := os.ReadFile(listsDir + "/near.txt")
	require.NoError(t, err)
	names := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		if !strings.HasPrefix(line, "#") {
			names[strings.TrimSpace(line)] = true
		}
	}
	return names
}

func TestUnder(t *testing.T) {
	endings := []string{"ca", "co.uk", "com", "com.ar"}
	require.Equal(t, []string{"olive.ca", "olive.co.uk", "olive.com", "olive.com.ar"}, source{}.under(endings, "olive"))
	require.Equal(t, []string{"orage.ca"}, source{countries: []string{"fr", "ca"}}.under(endings, "orage"))
	require.Empty(t, source{}.under(endings, "c'est"))
}

func TestRegistrable(t *testing.T) {
	require.Equal(t, []string{"cdn.example.co.uk", "example.co.uk"}, registrable("cdn.example.co.uk"))
	require.Equal(t, []string{"example.com"}, registrable("www.Example.com"))
	require.Equal(t, []string{"co.uk"}, registrable("co.uk"))
}

// TestRegistriesSettled requires second-levels.txt to be what near writes.
func TestRegistriesSettled(t *testing.T) {
	c, err := openChecker(listsDir)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, writeRegistries(dir, c.endings))
	requireCommitted(t, dir, "second-levels.txt")
}

// TestSettled runs near and the packer on the committed tables and requires the
// committed bytes: ./build.sh lists would change nothing.
func TestSettled(t *testing.T) {
	if os.Getenv("ADDRSPEC_ALL") == "" {
		t.Skip("left to ./build.sh test all: fetches seven npm packages and checks 12 million domains")
	}
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(listsDir)))
	require.NoError(t, run(dir))
	pack(t, dir)
	requireCommitted(t, dir, "near.txt", "lists.blob")
}

// TestSettledOffline rewrites near.txt with its own rows in place of those of the sources, so it
// cannot find names that near would add. TestCommittedBlob of lists/cmd compares the blob.
func TestSettledOffline(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(listsDir)))
	path := filepath.Join(dir, "near.txt")
	require.NoError(t, rewrite(path, headerOf(t, path), readNames(t)))
	requireCommitted(t, dir, "near.txt")
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

func pack(t *testing.T, dir string) {
	out, err := exec.Command("go", "run", "github.com/addrspec/addrspec/lists/cmd", "pack", "--dir", dir).CombinedOutput()
	require.NoError(t, err, string(out))
}

// requireCommitted fails unless files in dir have the committed bytes.
func requireCommitted(t *testing.T, dir string, files ...string) {
	for _, file := range files {
		got, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join(listsDir, file))
		require.NoError(t, err)
		require.True(t, string(got) == string(want), "%s is out of date: run ./build.sh lists", file)
	}
}
