package host_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// A cache whose entries cannot be opened, as another user's cannot, only costs time.
// A folder in place of an entry cannot be opened by root either.
func TestUnusableCache(t *testing.T) {
	if testing.Short() {
		t.Skip("left to ./build.sh test ci")
	}
	cache := t.TempDir()
	starts := func() {
		t.Helper()
		engine, err := host.New(t.Context(), moduletest.Bytes(t), host.Options{Size: 1, CacheDir: cache})
		require.NoError(t, err)
		engine.Close(t.Context())
	}
	starts()
	for _, entry := range entries(t, cache) {
		require.NoError(t, os.Remove(entry))
		require.NoError(t, os.Mkdir(entry, 0o700))
	}
	starts()
}

// entries returns the files in a folder and below, of which there is at least one.
func entries(t *testing.T, folder string) (files []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	require.NotEmpty(t, files)
	return files
}
