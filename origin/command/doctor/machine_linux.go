package doctor

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// networkFileSystems are those whose locks and shared memory SQLite cannot rely on
// (sqlite.org/wal.html, "WAL does not work over a network filesystem"), by the magic
// number of statfs(2).
var networkFileSystems = map[int64]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.CIFS_SUPER_MAGIC: "SMB",
	unix.V9FS_MAGIC:       "9P",
	unix.CEPH_SUPER_MAGIC: "CephFS",
	unix.AFS_SUPER_MAGIC:  "AFS",
}

// LocalDisk returns an error if a SQLite file is on a network file system, or on a file
// system that is mounted read-only.
func LocalDisk(path string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &s); err != nil {
		return nil // the check of the disk says why
	}
	if name := networkFileSystems[int64(s.Type)]; name != "" {
		return fmt.Errorf("the database is on %s, where SQLite can lose charges: move it to a local disk, or use PostgreSQL", name)
	}
	if errors.Is(unix.Access(path, unix.W_OK), unix.EROFS) { // also of root
		return fmt.Errorf("%s is on a read-only file system, so the service cannot charge: see in the kernel's log "+
			"why, and mount it for writing", path)
	}
	return nil
}

// synchronised returns advice if the kernel's clock is not synchronised, as
// adjtimex(2) reports: no time server has to be asked or trusted.
func synchronised() error {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil || state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0 {
		return nil // a sandbox may forbid the call
	}
	return Advise("the kernel does not report the clock as synchronised: run an NTP client such as chrony or systemd-timesyncd; in a container, on the host")
}
