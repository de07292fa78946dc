package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrExists is the error of a copy to a file that exists.
var ErrExists = errors.New("it exists already; give another name, or --force to replace it")

// A NewFile is written beside its final place, with mode 0600, and moved there when
// it is whole: the place has the old file or the new one, never a part.
type NewFile struct {
	*os.File
	place string
	force bool
}

// part is in the names of files that are being written.
const part = ".part-"

// staleAfter is when a file that is being written was abandoned: its process was
// killed.
const staleAfter = 24 * time.Hour

// CreateFile starts a file. Unless force is set, place must not exist.
func CreateFile(place string, force bool) (*NewFile, error) {
	if place == "" || place == "-" {
		return nil, errors.New("give the name of a file")
	}
	n := &NewFile{place: place, force: force}
	if err := n.requirePlace(); err != nil {
		return nil, err
	}
	removeStale(place)
	file, err := os.CreateTemp(filepath.Dir(place), filepath.Base(place)+part+"*") // mode 0600
	n.File = file
	return n, err
}

// requirePlace returns an error if the file may not be put there.
func (n *NewFile) requirePlace() error {
	info, err := os.Lstat(n.place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder; give the name of a file in it", n.place)
	case !n.force:
		return fmt.Errorf("%s: %w", n.place, ErrExists)
	}
	return requireNoDatabase(n.place)
}

// requireNoDatabase keeps --force from replacing a database that a server uses:
// SQLite's files beside it exist while it is open.
func requireNoDatabase(place string) error {
	for _, beside := range besideDatabase {
		if _, err := os.Lstat(place + beside); err == nil {
			return fmt.Errorf("%s is a database that is in use: %s%s exists; give another name", place, place, beside)
		}
	}
	return nil
}

// besideDatabase are the ends of the names of SQLite's files beside a database.
var besideDatabase = []string{"-wal", "-shm", "-journal"}

// removeStale removes what killed processes left.
func removeStale(place string) {
	left, _ := filepath.Glob(escapeGlob(place) + part + "*")
	for _, name := range left {
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.Remove(name)
		}
	}
}

// Finish moves the file to its place. The file and the folder's entry are on disk
// then.
func (n *NewFile) Finish() error {
	if err := errors.Join(n.Sync(), n.File.Close(), n.requirePlace()); err != nil {
		return err
	}
	if err := os.Rename(n.Name(), n.place); err != nil {
		return err
	}
	return syncFolder(n.place)
}

// Discard closes and removes the file, unless it was finished.
func (n *NewFile) Discard() {
	_ = n.File.Close()
	for _, end := range append([]string{""}, besideDatabase...) {
		_ = os.Remove(n.Name() + end)
	}
}

// syncFolder makes a rename durable.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
