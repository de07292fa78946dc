package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// Clock looks at the machine's clock: whether it is later than the program, whether
// the kernel says that it is synchronised, and how far it is from the database's.
func Clock(earliest time.Time, database func(context.Context) (time.Time, error)) Check {
	return Check{"clock", func(ctx context.Context) (string, error) {
		before := time.Now()
		if before.Before(earliest) {
			return "", fmt.Errorf("it is set to %s, before this program was built; start NTP",
				before.UTC().Format(time.DateTime))
		}
		err := synchronised()
		if theirs, failed := database(ctx); failed == nil { // else the check of the database says why
			ours := before.Add(time.Since(before) / 2)
			err = errors.Join(difference("the database's clock", ours.Sub(theirs)), err)
		}
		return before.UTC().Format(time.DateTime) + " UTC", err
	}}
}

// difference returns an error for a clock that differs from ours. Months begin, keys and lists
// expire by clocks.
func difference(whose string, d time.Duration) error {
	way := "behind"
	if d < 0 {
		way = "ahead of"
	}
	size := d.Abs().Round(time.Millisecond)
	err := fmt.Errorf("%s is %s %s this machine's: synchronise both with NTP", whose, size, way)
	switch {
	case size > 10*time.Second:
		return err
	case size > 2*time.Second:
		return Advice{err}
	}
	return nil
}

// Files looks at the modes of files: secrets are for their owner alone, and nobody
// else may change the others, or replace a file because its directory lets everybody write.
// Files that do not exist are left out.
func Files(secret, settings []string) Check {
	return Check{"files", func(context.Context) (string, error) {
		if runtime.GOOS == "windows" { // its modes say nothing
			return "", nil
		}
		var problems []error
		bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
		for n, path := range slices.Concat(secret, settings) {
			forbidden := fs.FileMode(0o022)
			if n < len(secret) {
				forbidden = 0o077
			}
			directory := filepath.Dir(path)
			info, err := os.Stat(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			above, failed := os.Stat(directory)
			err = cmp.Or(err, failed)
			if err != nil {
				bad("cannot look at %s: %w", path, err)
				continue
			}
			mode, may := info.Mode().Perm(), info.Mode().Perm()&^forbidden
			switch {
			case mode&forbidden&0o044 != 0:
				bad("%s has mode %04o, so other users of this machine can read it: chmod %04o %[1]s", path, mode, may)
			case mode != may:
				bad("%s has mode %04o, so other users of this machine can change it: chmod %04o %[1]s", path, mode, may)
			case above.Mode().Perm()&0o022 != 0 && above.Mode()&fs.ModeSticky == 0:
				bad("%s has mode %04o, so other users of this machine can replace the files in it: chmod go-w %[1]s",
					directory, above.Mode().Perm())
			}
		}
		return "only their owner can read the ledger and secrets, or change settings", errors.Join(problems...)
	}}
}
