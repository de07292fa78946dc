// Package registrytest fakes the client of a registry for tests.
package registrytest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// NPM is a directory with the packages that the command npm knows: for each
// specification its tarball and what the command prints.
type NPM string

// FakeNPM puts a command npm on the PATH that knows the packages of Publish.
func FakeNPM(t *testing.T) NPM {
	bin, packages := t.TempDir(), t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
cd %s
[ -f "$2.tgz" ] || { echo "E404 $2" >&2; exit 1; }
cp "$2.tgz" "$5" && cat "$2.json"
`, packages)
	require.NoError(t, os.WriteFile(filepath.Join(bin, "npm"), []byte(script), 0o755))
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	return NPM(packages)
}

// Publish adds a package of one file as the newest version.
func (n NPM) Publish(t *testing.T, name, version, path, content string) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: path, Size: int64(len(content)), Mode: 0o644}))
	_, err := w.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	sum := sha512.Sum512(b.Bytes())
	for _, spec := range []string{name, name + "@" + version} {
		printed, err := json.Marshal([]map[string]string{{"name": name, "version": version, "filename": spec + ".tgz",
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}})
		require.NoError(t, err)
		n.write(t, spec+".tgz", b.Bytes())
		n.write(t, spec+".json", printed)
	}
}

// Unpublish removes the newest version of a package and one version.
func (n NPM) Unpublish(t *testing.T, name, version string) {
	require.NoError(t, os.Remove(filepath.Join(string(n), name+".tgz")))
	require.NoError(t, os.Remove(filepath.Join(string(n), name+"@"+version+".tgz")))
}

func (n NPM) write(t *testing.T, file string, content []byte) {
	require.NoError(t, os.WriteFile(filepath.Join(string(n), file), content, 0o644))
}
