package ledger

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// mountSmallDisk mounts a file system of 1 MiB at dir. It skips the test if it is
// not permitted to.
func mountSmallDisk(t *testing.T, dir string) {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("the test mounts a small file system, which needs root: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
}
