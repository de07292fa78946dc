package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/addrspec/addrspec/lists/feed"
)

// temporary begins what follows the name of a file that is being written.
const temporary = ".tmp-"

// Write replaces the pair by a release, unless check refuses to replace what is
// there. check gets nil if there is no pair that f.Key verifies. No other Write
// to the same folder runs meanwhile.
func (f File) Write(release *feed.Release, check func(now *feed.Release) error) error {
	path, err := target(f.Path)
	if err != nil {
		return err
	}
	unlock, err := lock(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer unlock()
	file := File{path, f.Key}
	now, err := file.Read()
	if err != nil {
		now = nil
	}
	if err := check(now); err != nil {
		return err
	}
	if err := file.finish(); err != nil {
		return err
	}
	return writePair(path, release)
}

// finish does what a killed writer left to do: it moves the signature that waits
// to its place if the blob is there, and removes files that were being written.
// The lock is held, so no other writer is at work.
func (f File) finish() error {
	left, _ := filepath.Glob(f.Path + "*" + temporary + "*")
	for _, name := range left {
		os.Remove(name)
	}
	blob, err := ReadBlob(f.Path)
	if err != nil {
		return nil // there is nothing to keep
	}
	if _, err := f.open(blob, pending); err != nil {
		return nil
	}
	return os.Rename(f.Path+pending, f.Path+feed.Suffix)
}

// target follows a symbolic link, so that a rename replaces the file and not the
// link.
func target(path string) (string, error) {
	to, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return to, err
}

// writePair writes both files in the order that Read relies on.
func writePair(path string, release *feed.Release) error {
	if err := WriteFile(path+pending, release.Text); err != nil {
		return err
	}
	if err := WriteFile(path, release.Blob); err != nil {
		return err
	}
	if err := os.Rename(path+pending, path+feed.Suffix); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// WriteFile replaces a file by one that everybody may read: lists are no secret,
// and the program that fetches them may run as another user than the service.
func WriteFile(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+temporary+"*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder flushes the names of a folder, so that a rename survives a power
// failure. File systems that cannot do it do not need it.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	_ = folder.Sync()
	return nil
}

// patience is how long a writer waits for another one.
const patience = 10 * time.Second

var errBusy = &feed.Error{Reason: feed.Storing, Text: "another program is writing lists in the same folder: try again later"}
