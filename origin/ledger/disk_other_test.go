//go:build !linux

package ledger

import "testing"

func mountSmallDisk(t *testing.T, _ string) {
	t.Skip("the test mounts a small file system, which needs Linux and root")
}
