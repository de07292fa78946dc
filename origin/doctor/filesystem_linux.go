package doctor

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// networkFileSystems are those whose locks and shared memory SQLite cannot rely on
// (sqlite.org/wal.html, "WAL does not work over a network filesystem"), by the magic
// number of statfs(2).
var networkFileSystems = map[int64]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.CIFS_SUPER_MAGIC: "SMB",
	unix.V9FS_MAGIC:       "9P",
	unix.CEPH_SUPER_MAGIC: "CephFS",
	unix.AFS_SUPER_MAGIC:  "AFS",
}

// LocalDisk returns an error if a SQLite file is on a network file system.
func LocalDisk(path string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &s); err != nil {
		return nil // the check of the disk says why
	}
	return refuseNetwork(int64(s.Type))
}
