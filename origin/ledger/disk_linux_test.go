package ledger

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// mountSmallDisk makes dir a disk of one mebibyte, where the test may.
func mountSmallDisk(t *testing.T, dir string) {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a full disk needs a small one to be mounted, which takes root: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
}
