package store

import (
	"errors"
	"fmt"
)

// ErrNoLedger is the error of OpenExisting if there is no ledger.
var ErrNoLedger = errors.New("there is no ledger; 'addrspec serve' and 'addrspec account create' make one")

// ErrOldSchema is the error of OpenExisting if the schema is of an earlier release.
var ErrOldSchema = errors.New("its schema is of an earlier release; back the database up, then start this release's 'addrspec serve', which migrates it")

// RequireCurrent returns an error unless version is that of this program's schema.
func RequireCurrent(steps []string, version int) error {
	left, err := Pending(steps, version)
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
