package registry

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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

func TestReleases(t *testing.T) {
	all, err := pipVersions([]byte("p (0.2)\nAvailable versions: 0.2, 0.1\n  INSTALLED: 0.1\n"))
	require.NoError(t, err)
	require.Equal(t, []Release{{Version: "0.2"}, {Version: "0.1"}}, all)
	_, err = pipVersions([]byte("ERROR"))
	require.ErrorContains(t, err, "no versions")

	all, err = npmTimes([]byte(`{"1.0.0":"2026-11-09T13:03:30.000Z"}`))
	require.NoError(t, err)
	require.Equal(t, "1.0.0", all[0].Version)
	require.True(t, all[0].Published.Equal(time.Date(2026, 11, 9, 13, 3, 30, 0, time.UTC)))
	_, err = npmTimes([]byte(`{"1.0.0":"yesterday"}`))
	require.ErrorContains(t, err, "no times")
}

// FuzzClients feeds one output to the reader of each command.
func FuzzClients(f *testing.F) {
	f.Add([]byte(`[{"name":"p","version":"1","integrity":"sha512-x","filename":"p-1.tgz"}]`))
	f.Add([]byte(`{"install":[{"download_info":{"archive_info":{"hashes":{"sha256":"ab"}}},"metadata":{"name":"p","version":"1"}}]}`))
	f.Add([]byte("Available versions: 0.2, 0.1\n"))
	f.Add([]byte(`{"1.0.0":"2026-11-09T13:03:30.000Z"}`))
	f.Fuzz(func(t *testing.T, out []byte) {
		if a, err := npmArchive(out, "dir"); err == nil {
			require.NotEmpty(t, a.integrity)
			require.Regexp(t, `^(dir(/|$)|\.|/)`, a.path)
		}
		if a, err := pipReport(out); err == nil {
			require.NotEmpty(t, a.integrity)
		}
		if all, err := pipVersions(out); err == nil {
			require.NotEmpty(t, all)
		}
		all, _ := npmTimes(out)
		require.LessOrEqual(t, len(inOrder(all)), len(all))
	})
}
