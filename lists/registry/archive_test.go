package registry

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// tarball returns a gzipped tarball of one file.
func tarball(t testing.TB, path string, content []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: path, Size: int64(len(content)), Mode: 0o644}))
	_, err := w.Write(content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.Bytes()
}

// wheel returns a zip file of one file and a directory.
func wheel(t testing.TB, path string, content []byte) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	_, err := w.Create("directory/")
	require.NoError(t, err)
	f, err := w.Create(path)
	require.NoError(t, err)
	_, err = f.Write(content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestUnpack(t *testing.T) {
	want := map[string][]byte{"package/emails.txt": []byte("a.b\n")}
	packed := tarball(t, "package/emails.txt", []byte("a.b\n"))
	files, err := untar(packed, maxUnpacked)
	require.NoError(t, err)
	require.Equal(t, want, files)
	_, err = untar(packed[:len(packed)/2], maxUnpacked)
	require.Error(t, err, "a truncated tarball")

	packed = wheel(t, "package/emails.txt", []byte("a.b\n"))
	files, err = unzip(packed, maxUnpacked)
	require.NoError(t, err)
	require.Equal(t, want, files)
	_, err = unzip(packed[:len(packed)/2], maxUnpacked)
	require.Error(t, err, "a truncated zip file")
}

// TestUnpackBombs unpacks archives of a few kilobytes that hold a megabyte.
func TestUnpackBombs(t *testing.T) {
	zeros := make([]byte, 1<<20)
	_, err := untar(tarball(t, "x", zeros), 1<<20-1)
	require.ErrorContains(t, err, "damaged tarball")
	_, err = untar(tarball(t, "x", zeros), 1<<21)
	require.NoError(t, err)
	_, err = unzip(wheel(t, "x", zeros), 1<<20-1)
	require.ErrorContains(t, err, "unpacks to more than 1048575 bytes")
	_, err = unzip(wheel(t, "x", zeros), 1<<20)
	require.NoError(t, err)
}

// TestAddBounds checks both bounds where headers could lie about sizes.
func TestAddBounds(t *testing.T) {
	f := &files{byPath: map[string][]byte{}, left: 3, limit: 3}
	require.NoError(t, f.add("a", bytes.NewReader([]byte("abc"))))
	require.EqualError(t, f.add("b", bytes.NewReader([]byte("d"))), "the archive unpacks to more than 3 bytes")
	f = &files{byPath: map[string][]byte{}}
	for i := range maxFiles {
		f.byPath[strconv.Itoa(i)] = nil
	}
	require.EqualError(t, f.add("b", bytes.NewReader(nil)), "the archive has more than 100000 files")
}

func TestReadBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive")
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	require.NoError(t, os.Truncate(path, maxArchive))
	_, err := readBounded(path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, maxArchive+1))
	_, err = readBounded(path)
	require.EqualError(t, err, "the archive has more than 67108864 bytes")
}

func FuzzUntar(f *testing.F) {
	f.Add(tarball(f, "package/a", []byte("a")))
	fuzzUnpack(f, untar)
}

func FuzzUnzip(f *testing.F) {
	f.Add(wheel(f, "package/a", []byte("a")))
	fuzzUnpack(f, unzip)
}

func fuzzUnpack(f *testing.F, unpack func([]byte, int64) (map[string][]byte, error)) {
	const limit = 1 << 16
	f.Fuzz(func(t *testing.T, packed []byte) {
		files, err := unpack(packed, limit)
		if err != nil {
			require.Nil(t, files)
		}
		size := 0
		for _, content := range files {
			size += len(content)
		}
		require.LessOrEqual(t, size, limit)
	})
}
