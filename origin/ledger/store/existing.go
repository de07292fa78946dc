package store

import (
	"errors"
	"fmt"
	"os"
)

// ErrNoLedger is the error of OpenExisting if there is no ledger.
var ErrNoLedger = errors.New("there is no ledger; 'addrspec serve' and 'addrspec account create' make one")

// ErrOldSchema is the error of OpenExisting if the schema is of an earlier release.
var ErrOldSchema = errors.New("its schema is of an earlier release; back the database up, then start this release's 'addrspec serve', which migrates it")

// requireCurrent returns an error unless version is that of this program's schema.
func requireCurrent(steps []string, version int) error {
	left, err := pending(steps, version)
	switch {
	case err != nil:
		return err
	case version == 0:
		return ErrNoLedger
	case len(left) > 0:
		return fmt.Errorf("%w (it has version %d, this program %d)", ErrOldSchema, version, len(steps))
	}
	return nil
}

// requireFile returns an error unless path is a file. An empty one is what an
// interrupted first start leaves.
func requireFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return ErrNoLedger
	case err != nil:
		return err
	case info.IsDir():
		return errFolder
	case info.Size() == 0:
		return ErrNoLedger
	}
	return nil
}

// errFolder is the error of a path that names a folder.
var errFolder = errors.New("it is a folder; give the path of a file in it, such as sqlite:data/addrspec.db")
