package npm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnpack(t *testing.T) {
	var tarball bytes.Buffer
	z := gzip.NewWriter(&tarball)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "package/emails.txt", Size: 4, Mode: 0o644}))
	_, err := w.Write([]byte("a.b\n"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())

	files, err := unpack(tarball.Bytes())
	require.NoError(t, err)
	require.Equal(t, map[string][]byte{"package/emails.txt": []byte("a.b\n")}, files)

	_, err = unpack(tarball.Bytes()[:tarball.Len()/2])
	require.Error(t, err, "a truncated tarball")
}

func TestCheckIntegrity(t *testing.T) {
	const empty = "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="
	require.NoError(t, checkIntegrity(nil, empty))
	require.ErrorContains(t, checkIntegrity([]byte{0}, empty), "npm printed "+empty)
}
