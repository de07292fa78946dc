package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var someEntries = []entry{
	{"directory/addrspec", 0o755, []byte("program"), 0}, {"directory/empty/", 0o700, nil, 65532}, {"directory/LICENSE", 0o644, []byte("text"), 0},
}

// Archives depend on the entries and the given time alone.
func TestArchivesAreReproducible(t *testing.T) {
	at := time.Date(2026, 11, 23, 1, 2, 4, 0, time.UTC)
	for name, write := range map[string]func(io.Writer, []entry, time.Time) error{"tar": writeTar, "tar.gz": writeTarGz, "zip": writeZip} {
		t.Run(name, func(t *testing.T) {
			var first, second bytes.Buffer
			require.NoError(t, write(&first, someEntries, at))
			t.Setenv("TZ", "Pacific/Auckland")
			require.NoError(t, write(&second, someEntries, at.In(time.Local)))
			require.True(t, bytes.Equal(first.Bytes(), second.Bytes()))
		})
	}
}

func TestTarKeepsModesAndOwners(t *testing.T) {
	var buffer bytes.Buffer
	require.NoError(t, writeTar(&buffer, someEntries, time.Unix(1, 0)))
	archive := tar.NewReader(&buffer)
	for _, want := range someEntries {
		header, err := archive.Next()
		require.NoError(t, err)
		require.Equal(t, want.name, header.Name)
		require.Equal(t, want.mode, header.Mode)
		require.Equal(t, []int{want.owner, want.owner}, []int{header.Uid, header.Gid})
		data, err := io.ReadAll(archive)
		require.NoError(t, err)
		require.Equal(t, string(want.data), string(data))
	}
}

// archived writes a package with one file.
func archived(t *testing.T, suffix, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "package"+suffix)
	var buffer bytes.Buffer
	write := writeTarGz
	if suffix == ".whl" {
		write = writeZip
	}
	require.NoError(t, write(&buffer, []entry{{name: name, mode: 0o644, data: data}}, time.Unix(1, 0)))
	if suffix == ".gem" {
		files := bytes.Clone(buffer.Bytes())
		buffer.Reset()
		require.NoError(t, writeTar(&buffer, []entry{{name: "metadata.gz", mode: 0o444}, {name: "data.tar.gz", mode: 0o444, data: files}}, time.Unix(1, 0)))
	}
	require.NoError(t, os.WriteFile(path, buffer.Bytes(), 0o600))
	return path
}

// notice is what package.sh of the C library writes about a module.
func notice(module string) []byte {
	return fmt.Appendf(nil, "module.c and module.h are addrspec.wasm as C. Its SHA-256 is\n%x\n\n"+
		"They were made by wasm2c 1.0.32, and begin\n", sha256.Sum256([]byte(module)))
}

// A package of an old build is found before it is shipped.
func TestPackagesHaveTheReleasedModule(t *testing.T) {
	r := testRelease(t)
	write(t, r.out, map[string]string{"addrspec.wasm": "module"})
	b := newBill()
	for _, c := range []struct {
		suffix, name  string
		released, old []byte
	}{
		{".whl", "addrspec/addrspec.wasm", []byte("module"), []byte("old")},
		{".tgz", "addrspec/addrspec.wasm", []byte("module"), []byte("old")},
		{".gem", "addrspec/addrspec.wasm", []byte("module"), []byte("old")},
		{".tar.gz", "addrspec/libaddrspec/module/NOTICE", notice("module"), notice("old")},
	} {
		require.NoError(t, r.addPackage(b, archived(t, c.suffix, c.name, c.released)))
		require.Contains(t, b.depends["file/package"+c.suffix], "file/addrspec.wasm")
		require.ErrorContains(t, r.addPackage(newBill(), archived(t, c.suffix, c.name, c.old)), "its package.sh took an old one")
	}
	require.Contains(t, b.components, "file/package.gem")
	require.NoError(t, r.addPackage(b, r.inOut("addrspec.wasm")))
	require.NotContains(t, b.components, "file/addrspec.wasm", "it is no package")
}

// The packages that esbuild took code from are named in its comments.
func TestBundledPackages(t *testing.T) {
	r := testRelease(t)
	write(t, r.out, map[string]string{"addrspec.wasm": "module"})
	write(t, r.root, map[string]string{"edge/package-lock.json": `{"packages":{"node_modules/@noble/hashes":{"version":"2.4.0","license":"MIT","integrity":"sha512-x"},` +
		`"node_modules/plain":{"version":"1.0.0","license":"MIT"}}}`})
	b := newBill()
	require.NoError(t, r.addPackage(b, archived(t, ".tgz", "package/lib/lists.js", []byte(`
// node_modules/@noble/hashes/blake2.js
var x = 1;
  // ../edge/node_modules/plain/index.js
// src/node_modules_are_not_this.ts
`))))
	require.ElementsMatch(t, []string{"pkg:npm/%40noble/hashes@2.4.0", "pkg:npm/plain@1.0.0"}, b.depends["file/package.tgz"])
	require.ErrorContains(t, r.addPackage(b, archived(t, ".tgz", "package/x.js", []byte("// node_modules/other/x.js\n"))), "does not list")
}
