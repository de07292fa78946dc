//go:build unix

package archive

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// giveToOwner gives the file to the owner of the one at place, or of its directory, so
// that a service with a user of its own can open what root has restored.
func giveToOwner(path, place string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(place)
	if errors.Is(err, os.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(place))
	}
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}
