package sqlite

import (
	"errors"
	"os"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// requireFile returns an error unless path is a file. An empty one is what an
// interrupted first start leaves.
func requireFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return store.ErrNoLedger
	case err != nil:
		return err
	case info.IsDir():
		return errFolder
	case info.Size() == 0:
		return store.ErrNoLedger
	}
	return nil
}

// errFolder is the error of a path that names a directory.
var errFolder = errors.New("it is a folder; give the path of a file in it, such as sqlite:data/addrspec.db")
