package bindings_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// A pack is an installed package: commands with the protocol of README.md, without a
// module's file, that check in bulk and one by one.
type pack struct{ many, single []string }

// requireSameBytes runs the package on the golden vectors and 50,000 generated
// addresses, with details, with newer lists and with damaged ones. One by one it gets
// fewer addresses in the usual run, where the interpreters would take a minute.
func (p pack) requireSameBytes(t *testing.T) {
	list := append(golden(t), vectors.Generate(6, 50_000)...)
	single := list
	if os.Getenv("ADDRSPEC_ALL") == "" {
		single = list[:len(list)-40_000]
	}
	t.Run("in bulk", func(t *testing.T) { newSample(list, "\x00", "\x00").requireSame(t, with(p.many, "-0")) })
	t.Run("one by one", func(t *testing.T) { newSample(single, "\x00", "\x00").requireSame(t, with(p.single, "-0")) })
	lines := newSample(list[:2500], "\r\n\x00", "\n", "\r\n").withDetails()
	t.Run("lines with details", func(t *testing.T) {
		lines.requireSame(t, with(p.many, "-d"))
		lines.requireSame(t, with(p.single, "-d"))
	})
	t.Run("arguments", func(t *testing.T) {
		addresses := []string{"jane@example.org", "josé@bücher.example"}
		require.Equal(t, results(addresses), run(t, "", with(p.many, addresses...)))
	})
	t.Run("newer lists", func(t *testing.T) { p.requireNewerLists(t) })
}

// requireNewerLists requires that the package takes newer lists over, and refuses
// damaged ones.
func (p pack) requireNewerLists(t *testing.T) {
	blob := moduletest.NewerLists(t)
	newer, damaged, large := blobFile(t, blob), blobFile(t, blob[:len(blob)-1]), blobFile(t, make([]byte, 4<<20+1))
	const swapped = "jane@" + moduletest.Swapped
	s := newSample(append([]string{swapped}, vectors.Generate(7, 500)...), "\x00", "\x00").withLists(t, blob)
	require.Contains(t, s.want[0], `"public":true`)
	s.requireSame(t, with(p.many, "-l", newer, "-0"))
	s.requireSame(t, with(p.single, "-l", newer, "-0"))
	requireFails(t, "the blob is damaged: its parts do not add up to its size", with(p.many, "-l", damaged, swapped))
	requireFails(t, "the lists are larger than 4 MiB", with(p.many, "-l", large, swapped))
}

func with(command []string, args ...string) []string { return append(slices.Clone(command), args...) }

// builtOnce returns a directory for what is built of the files in dir, the module and
// what else has determines it. build fills it, unless that is done already: packages
// are built and installed once for each state of their sources.
func builtOnce(t *testing.T, language string, build func(directory string), determines ...string) string {
	t.Helper()
	all := filepath.Join(cache(t), language)
	directory := filepath.Join(all, sourcesDigest(t, language, determines))
	require.NoError(t, os.MkdirAll(all, 0o755))
	defer lock(t, filepath.Join(all, "lock"))()
	if _, err := os.Stat(filepath.Join(directory, "done")); err == nil {
		return directory
	}
	require.NoError(t, os.RemoveAll(directory))
	require.NoError(t, os.MkdirAll(directory, 0o755))
	build(directory)
	require.NoError(t, os.WriteFile(filepath.Join(directory, "done"), nil, 0o600))
	return directory
}

// sourcesDigest returns a digest of the files in dir, the module and the texts.
func sourcesDigest(t *testing.T, dir string, texts []string) string {
	t.Helper()
	hash := sha256.New()
	fmt.Fprintf(hash, "%q", texts)
	hash.Write(moduletest.Bytes(t))
	require.NoError(t, filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if entry.IsDir() && slices.Contains([]string{"target", "__pycache__", "node_modules"}, entry.Name()) {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		fmt.Fprintf(hash, "%s %d %s", name, len(content), content)
		return err
	}))
	return fmt.Sprintf("%x", hash.Sum(nil)[:8])
}

// buildPackage runs package.sh of the language with the module of the tests, and
// writes to out. It skips the test if a tool is missing.
func buildPackage(t *testing.T, language, out string) {
	t.Helper()
	wasm := filepath.Join(t.TempDir(), "addrspec.wasm")
	require.NoError(t, os.WriteFile(wasm, moduletest.Bytes(t), 0o600))
	t.Setenv("ADDRSPEC_MODULE", wasm)
	build(t, language, "./package.sh", out)
}

// formsTable returns the place of the addresses that types for forms accept and refuse, each with the
// code and with the names of what ours replace and which accept it.
func formsTable(t *testing.T) string {
	t.Helper()
	table, err := filepath.Abs("../vectors/forms.tsv")
	require.NoError(t, err)
	return table
}
