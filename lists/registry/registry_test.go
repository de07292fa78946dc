package registry

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/require"
)

// fake returns a registry whose client is a shell script; its arguments are "--to", the
// directory and the package.
func fake(script string) *Registry {
	return &Registry{Name: "fake", client: []string{"sh", "-c", script, "client"}, into: "--to", equals: "=", versionOf: NPM.versionOf,
		integrity: PyPI.integrity, unpack: func(packed []byte, _ int64) (files, error) { return files{"f": packed}, nil }}
}

func TestFetch(t *testing.T) {
	p, err := fake(`[ "$3" = @scope/p=1.0 ] && printf content >"$2/scope-p-1.0.tgz"`).Fetch("@scope/p@1.0")
	require.NoError(t, err)
	require.Equal(t, &Package{"@scope/p", "1.0", PyPI.integrity([]byte("content")), files{"f": []byte("content")}}, p)
	p, err = fake(`touch "$2/$3-2.tgz"`).Fetch("p")
	require.NoError(t, err)
	require.Equal(t, "2", p.Version)
	for script, want := range map[string]string{
		"echo why >&2; exit 3":              "exit status 3\nwhy",
		"true":                              "sh saved 0 files instead of one archive",
		`touch "$2/a" "$2/b"`:               "sh saved 2 files",
		`truncate -s 67108865 "$2/p-1.tgz"`: "the archive has more than 67108864 bytes",
	} {
		_, err := fake(script).Fetch("p@1")
		require.ErrorContains(t, err, "fake package p@1: ")
		require.ErrorContains(t, err, want)
	}
	_, err = (&Registry{client: []string{"no-such-client-of-a-registry"}}).Fetch("p")
	require.ErrorContains(t, err, "is not installed")
}

func TestRegistries(t *testing.T) {
	require.Equal(t, "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==", NPM.integrity(nil))
	require.Equal(t, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", PyPI.integrity(nil))
	require.Equal(t, "1.2-b3", NPM.versionOf("a-b", "a-b-1.2-b3.tgz"))
	require.Equal(t, "0.0.293", PyPI.versionOf("a-b", "a_b-0.0.293-py3-none-any.whl"))
	require.Empty(t, PyPI.versionOf("a", "a"))
}

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
	got, err := untar(packed, maxUnpacked)
	require.NoError(t, err)
	require.Equal(t, want, got)
	_, err = untar(packed[:len(packed)/2], maxUnpacked)
	require.Error(t, err, "a truncated tarball")

	packed = wheel(t, "package/emails.txt", []byte("a.b\n"))
	got, err = unzip(packed, maxUnpacked)
	require.NoError(t, err)
	require.Equal(t, want, got)
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
	require.ErrorContains(t, err, "unpacks to too many bytes")
	_, err = unzip(wheel(t, "x", zeros), 1<<20)
	require.NoError(t, err)
}

func FuzzUntar(f *testing.F) {
	f.Add(tarball(f, "package/a", []byte("a")))
	fuzzUnpack(f, untar)
}

func FuzzUnzip(f *testing.F) {
	f.Add(wheel(f, "package/a", []byte("a")))
	fuzzUnpack(f, unzip)
}

func fuzzUnpack(f *testing.F, unpack func([]byte, int64) (files, error)) {
	const limit = 1 << 16
	f.Fuzz(func(t *testing.T, packed []byte) {
		got, err := unpack(packed, limit)
		if err != nil {
			require.Nil(t, got)
		}
		size := 0
		for _, content := range got {
			size += len(content)
		}
		require.LessOrEqual(t, size, limit)
	})
}
