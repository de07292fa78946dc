package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A NewFile is written beside its final place, with mode 0600, and moved there when
// it is whole: the place has the old file or the new one, never a part.
type NewFile struct {
	*os.File
	place string
	force bool
}

const part = ".part-"

var besideDatabase = []string{"-wal", "-shm", "-journal"}

// CreateFile starts a file. Unless force is set, place must not exist.
func CreateFile(place string, force bool) (*NewFile, error) {
	if place == "" || place == "-" {
		return nil, errors.New("give the name of a file")
	}
	n := &NewFile{place: place, force: force}
	if err := n.requirePlace(); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(filepath.Dir(place), filepath.Base(place)+part+"*") // mode 0600
	n.File = file
	return n, err
}

// requirePlace keeps --force from replacing a database that a service uses.
func (n *NewFile) requirePlace() error {
	info, err := os.Lstat(n.place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory; give the name of a file in it", n.place)
	case !n.force:
		return fmt.Errorf("%s: it exists already; give another name, or --force to replace it", n.place)
	}
	for _, end := range besideDatabase {
		if _, err := os.Lstat(n.place + end); err == nil {
			return fmt.Errorf("%s is a database that is in use: %s exists; give another name", n.place, n.place+end)
		}
	}
	return nil
}

// Finish moves the file to its place. The file and the directory's entry are on disk then.
func (n *NewFile) Finish() error {
	err := n.requirePlace()
	if err == nil {
		err = errors.Join(n.Sync(), n.File.Close())
	}
	if err == nil {
		err = os.Rename(n.Name(), n.place)
	}
	if err != nil {
		return err
	}
	directory, err := os.Open(filepath.Dir(n.place))
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}

// Discard closes and removes the file, unless it was finished.
func (n *NewFile) Discard() {
	_ = n.File.Close()
	_ = os.Remove(n.Name())
}

func requireOther(path, place string) error {
	a, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no such file: %s", path)
	}
	if err != nil {
		return err
	}
	if b, err := os.Stat(place); err == nil && os.SameFile(a, b) {
		return fmt.Errorf("%s is the database itself; give another name", place)
	}
	return nil
}
