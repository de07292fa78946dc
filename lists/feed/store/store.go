// Package store keeps a blob and its signature in two files that change together.
//
// Two files cannot be renamed at once. So [File.Write] first writes the new
// signature next to the old one (lists.blob.minisig.new), then renames the new
// blob into place, then the signature. [File.Read] uses whichever of the two
// signatures fits the blob. A process that is killed anywhere in between leaves
// the old pair or the new one, and the next write removes its leftovers.
package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/addrspec/addrspec/lists/feed"
)

// pending is the suffix of a signature that waits for its blob.
const pending = feed.Suffix + ".new"

// File is a blob in a file, with its signature next to it.
type File struct {
	Path string
	Key  feed.PublicKey
}

const (
	attempts = 4 // to read a pair, since a writer may replace one of the files between the reads of both
	pause    = 20 * time.Millisecond
	patience = 10 * time.Second // of a writer that waits for another one
)

var errBusy = &feed.Error{Reason: feed.Storing, Text: "another program is writing lists in the same directory: try again later"}

// Read reads and verifies the pair. It does not check that the signature is
// still valid: see feed.Statement.Fresh. The error is fs.ErrNotExist if there is
// no blob.
func (f File) Read() (*feed.Release, error) {
	for attempt := 1; ; attempt++ {
		blob, err := ReadBlob(f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil {
			var release *feed.Release
			release, err = f.open(blob, feed.Suffix)
			if err == nil {
				return release, nil
			}
			if after, e := f.open(blob, pending); e == nil {
				return after, nil
			}
		}
		if attempt == attempts {
			return nil, err
		}
		time.Sleep(pause)
	}
}

func (f File) open(blob []byte, suffix string) (*feed.Release, error) {
	text, err := ReadSignature(f.Path, suffix)
	if err != nil {
		return nil, err
	}
	signature, err := f.Key.Parse(text)
	if err != nil {
		return nil, err
	}
	return signature.Open(blob)
}

// ReadBlob reads a blob without verifying it.
func ReadBlob(path string) ([]byte, error) {
	return read(path, feed.MaxBlob, "the lists")
}

// ReadSignature reads the signature of the blob at path. A missing one is no
// fs.ErrNotExist.
func ReadSignature(path, suffix string) ([]byte, error) {
	text, err := read(path+suffix, feed.MaxSignature, "the signature")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &feed.Error{Reason: feed.BadSignature, Text: "there is no signature: " + filepath.Base(path) + suffix + " is missing beside the lists"}
	}
	return text, err
}

// ReadChanges reads and verifies a file of changes, whose signature is beside it.
func ReadChanges(path string, key feed.PublicKey) (*feed.Changes, error) {
	text, err := read(path, feed.MaxChangesSize, "the changes")
	if err != nil {
		return nil, err
	}
	signature, err := ReadSignature(path, feed.Suffix)
	if err != nil {
		return nil, err
	}
	return key.OpenChanges(text, signature)
}

func read(path string, limit int64, what string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = &feed.Error{Reason: feed.TooLarge, Text: fmt.Sprintf("%s in %s are larger than %d KiB", what, path, limit>>10)}
	}
	return text, err
}

// temporary begins the suffix of a file that is being written.
const temporary = ".tmp-"

// Write replaces the pair by a release, unless check refuses to replace the pair that is
// there. check gets nil if there is no pair that f.Key verifies. No other Write
// to the same directory runs meanwhile. A symbolic link is replaced: who may write to the
// directory must not choose what other file is written.
func (f File) Write(release *feed.Release, check func(now *feed.Release) error) error {
	unlock, err := lock(filepath.Dir(f.Path))
	if err != nil {
		return err
	}
	defer unlock()
	now, err := f.Read()
	if err != nil {
		now = nil
	}
	if err := check(now); err != nil {
		return err
	}
	if err := f.finish(now); err != nil {
		return err
	}
	// The order that Read relies on.
	if err := WriteFile(f.Path+pending, release.Text); err != nil {
		return err
	}
	if err := WriteFile(f.Path, release.Blob); err != nil {
		return err
	}
	if err := os.Rename(f.Path+pending, f.Path+feed.Suffix); err != nil {
		return err
	}
	return syncDir(filepath.Dir(f.Path))
}

// finish completes the work of a writer that was killed: it removes files that were being
// written, and moves a signature that waits for the blob of now, the pair that is there, to
// its place. The path may have characters that have a meaning in a pattern.
func (f File) finish(now *feed.Release) error {
	dir, base := filepath.Split(f.Path)
	entries, _ := os.ReadDir(filepath.Clean(dir))
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, base) && strings.Contains(name[len(base):], temporary) {
			os.Remove(dir + name)
		}
	}
	if now == nil {
		return nil
	}
	if _, err := f.open(now.Blob, pending); err != nil {
		return nil
	}
	return os.Rename(f.Path+pending, f.Path+feed.Suffix)
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
	return syncDir(filepath.Dir(path))
}

// syncDir flushes the names of a directory, so that a rename survives a power
// failure. File systems that cannot do it do not need it.
func syncDir(dir string) error {
	opened, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = opened.Sync()
	return opened.Close()
}
