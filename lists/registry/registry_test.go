package registry

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIntegrity(t *testing.T) {
	require.Equal(t, "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
		sha512Integrity(nil))
	require.Equal(t, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", sha256Integrity(nil))
}

// fake returns a registry with one package, whose archive has content.
func fake(content, published string) *Registry {
	return &Registry{
		Name:      "fake",
		integrity: sha256Integrity,
		unpack: func(packed []byte, _ int64) (map[string][]byte, error) {
			return map[string][]byte{"f": packed}, nil
		},
		download: func(dir, name, version string) (archive, error) {
			path := filepath.Join(dir, "archive")
			return archive{name, version + "1", published, path}, os.WriteFile(path, []byte(content), 0o644)
		},
	}
}

func TestFetch(t *testing.T) {
	sum := sha256Integrity([]byte("content"))
	p, err := fake("content", sum).Fetch("@scope/p@1.0.")
	require.NoError(t, err)
	require.Equal(t, &Package{"@scope/p", "1.0.1", sum, map[string][]byte{"f": []byte("content")}}, p)

	_, err = fake("other", sum).Fetch("p@1")
	require.EqualError(t, err, "fake package p@1: the archive has integrity "+sha256Integrity([]byte("other"))+
		", the registry published "+sum)

	down := &Registry{Name: "down", download: func(_, _, _ string) (archive, error) { return archive{}, errors.New("no network") }}
	_, err = down.Fetch("p")
	require.EqualError(t, err, "down package p: no network")
}

func TestSplitSpec(t *testing.T) {
	for spec, want := range map[string][2]string{
		"a": {"a", ""}, "a@1": {"a", "1"}, "@s/a": {"@s/a", ""}, "@s/a@1.2": {"@s/a", "1.2"}, "": {"", ""},
	} {
		name, version := splitSpec(spec)
		require.Equal(t, want, [2]string{name, version}, spec)
	}
}

func TestRun(t *testing.T) {
	_, err := run("no-such-client-of-a-registry")
	require.ErrorContains(t, err, "is not installed")
	out, err := run("sh", "-c", "echo out")
	require.NoError(t, err)
	require.Equal(t, "out\n", string(out))
	_, err = run("sh", "-c", "echo why >&2; exit 3")
	require.ErrorContains(t, err, "exit status 3\nwhy")
	_, err = run("sh", "-c", "head -c 20000000 /dev/zero")
	require.ErrorContains(t, err, "printed more than 16777216 bytes")
}

func TestNPMArchive(t *testing.T) {
	a, err := npmArchive([]byte(`[{"name":"p","version":"1","integrity":"sha512-x","filename":"../p-1.tgz","files":[]}]`), "dir")
	require.NoError(t, err)
	require.Equal(t, archive{"p", "1", "sha512-x", "dir/p-1.tgz"}, a)
	_, err = npmArchive([]byte(`[]`), "dir")
	require.ErrorContains(t, err, "one package")
	_, err = npmArchive([]byte(`[{"name":"p","version":"1","filename":"p-1.tgz"}]`), "dir")
	require.ErrorContains(t, err, "its integrity")
	_, err = npmArchive([]byte(`npm`), "dir")
	require.ErrorContains(t, err, "no JSON")
}

func TestPipReport(t *testing.T) {
	a, err := pipReport([]byte(`{"install":[{"download_info":{"archive_info":{"hashes":{"sha256":"AB"}}},"metadata":{"name":"p","version":"1"}}]}`))
	require.NoError(t, err)
	require.Equal(t, archive{name: "p", version: "1", integrity: "sha256:ab"}, a)
	_, err = pipReport([]byte(`{"install":[]}`))
	require.ErrorContains(t, err, "one package with its sha256")
	_, err = pipReport([]byte(`Would install`))
	require.ErrorContains(t, err, "pip 22.2")
}

// FuzzClients feeds one output to the reader of each command.
func FuzzClients(f *testing.F) {
	f.Add([]byte(`[{"name":"p","version":"1","integrity":"sha512-x","filename":"p-1.tgz"}]`))
	f.Add([]byte(`{"install":[{"download_info":{"archive_info":{"hashes":{"sha256":"ab"}}},"metadata":{"name":"p","version":"1"}}]}`))
	f.Fuzz(func(t *testing.T, out []byte) {
		if a, err := npmArchive(out, "dir"); err == nil {
			require.NotEmpty(t, a.integrity)
			require.Regexp(t, `^(dir(/|$)|\.|/)`, a.path)
		}
		if a, err := pipReport(out); err == nil {
			require.NotEmpty(t, a.integrity)
		}
	})
}
