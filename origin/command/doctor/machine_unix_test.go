//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A database whose owner can write it, and a log or a directory that belongs to another
// user, such as root, who ran a command.
func TestOwners(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "a.db")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, Owners(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	us := ownerOf(info)
	other, sameGroup := owner{us.user + 1, us.group + 1}, owner{us.user + 1, us.group}
	require.NoError(t, owns(path, us, 0o200))
	require.NoError(t, owns(path+"-wal", other, 0o200), "no such file")
	for mode, may := range map[os.FileMode][2]bool{0o600: {false, false}, 0o660: {true, false}, 0o602: {false, true}} {
		require.NoError(t, os.Chmod(path, mode))
		require.Equal(t, may, [2]bool{owns(path, sameGroup, 0o200) == nil, owns(path, other, 0o200) == nil}, "%o", mode)
	}
	require.NoError(t, os.Chmod(path, 0o477), "the class of the owner decides for it")
	require.ErrorContains(t, owns(path, us, 0o200), "cannot write "+path)
}

// Root can give files away.
func TestOwnersOfAFileThatIsGivenAway(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("skipped: only root can change the owner of a file")
	}
	directory := t.TempDir()
	path := filepath.Join(directory, "a.db")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.WriteFile(path+"-wal", nil, 0o600))
	const service = 65534
	require.NoError(t, os.Chown(path, service, service))
	err := Owners(path)
	require.ErrorContains(t, err, "cannot write "+directory+", ")
	require.ErrorContains(t, err, "chown 65534:65534 "+path+"-wal")
	require.NoError(t, os.Chown(directory, service, service))
	require.NoError(t, os.Chown(path+"-wal", service, service))
	require.NoError(t, Owners(path))
}
