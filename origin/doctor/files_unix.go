//go:build unix

package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Files looks at the modes of files: secrets are for their owner alone, and nobody
// else may change the others. Files that do not exist are left out.
func Files(secret, settings []string) Check {
	return Check{"files", func(context.Context) (string, error) {
		var problems []error
		looked := 0
		for _, path := range append(append([]string(nil), secret...), settings...) {
			forbidden := fs.FileMode(0o022)
			if looked < len(secret) {
				forbidden = 0o077
			}
			looked++
			problems = append(problems, modeOf(path, forbidden))
		}
		return "only their owner can read the ledger and secrets, or change settings", errors.Join(problems...)
	}}
}

// modeOf returns an error if a file has a forbidden permission, or others may
// replace it because they can write in its folder.
func modeOf(path string, forbidden fs.FileMode) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot look at %s: %w", path, err)
	}
	if mode := info.Mode(); mode.Perm()&forbidden != 0 {
		what := "other users of this machine can change it"
		if mode.Perm()&forbidden&0o044 != 0 {
			what = "other users of this machine can read it"
		}
		return fmt.Errorf("%s has mode %04o, so %s: chmod %04o %s", path, mode.Perm(), what, mode.Perm()&^forbidden, path)
	}
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); err == nil && info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("%s has mode %04o, so other users of this machine can replace the files in it: chmod go-w %s", folder, info.Mode().Perm(), folder)
	}
	return nil
}
