package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// The tag has the same files as the zip file of the release: who gets the Go module from
// proxy.golang.org, which reads the tag, has what SHA256SUMS signs.
func TestTagHasTheFilesOfTheZip(t *testing.T) {
	tree := newTree(t, map[string]string{
		".gitignore": "/wasm/module/addrspec.wasm\n", "go.mod": "module " + goModule + "\n\ngo 1.26.0\n", "LICENSE": "text",
		"core/core.go": "package core\n", "nested/go.mod": "module nested\n", "nested/x.go": "package nested\n", "wasm/module/addrspec.wasm.md": "x",
	})
	_, err := tree.writeProxy(t.Context(), t.TempDir(), "1.2.3")
	require.ErrorContains(t, err, "addrspec.wasm is missing")
	write(t, tree.root, map[string]string{embeddedModule: "\x00asm"})
	directory, err := tree.writeProxy(t.Context(), t.TempDir(), "1.2.3")
	require.NoError(t, err)
	ours := filepath.Join(directory, goModule, "@v", "v1.2.3.zip")

	name, commit, err := tree.tag(t.Context(), "1.2.3")
	require.NoError(t, err)
	require.Equal(t, "v1.2.3", name)
	theirs := filepath.Join(t.TempDir(), "vcs.zip")
	f, err := os.Create(theirs)
	require.NoError(t, err)
	require.NoError(t, zip.CreateFromVCS(f, module.Version{Path: goModule, Version: name}, tree.root, name, ""))
	require.NoError(t, f.Close())
	require.Equal(t, hashZip(t, theirs), hashZip(t, ours))

	require.FileExists(t, filepath.Join(tree.root, embeddedModule), "the checkout is as it was")
	status, err := git(t.Context(), tree.root, "status", "--porcelain")
	require.NoError(t, err)
	require.Empty(t, status)
	again, err := tree.commitWithModule(t.Context(), "1.2.3")
	require.NoError(t, err)
	require.Equal(t, commit, again)
	_, _, err = tree.tag(t.Context(), "1.2.3")
	require.ErrorContains(t, err, "already exists")
}

func hashZip(t *testing.T, path string) string {
	t.Helper()
	hash, err := dirhash.HashZip(path, dirhash.Hash1)
	require.NoError(t, err)
	return hash
}
