// Package store keeps a blob and its signature in two files that change together.
//
// Two files cannot be renamed at once. So [File.Write] first writes the new
// signature beside the old one (lists.blob.minisig.new), then renames the new
// blob into place, then the signature. [File.Read] uses whichever of the two
// signatures fits the blob. A process that is killed anywhere in between leaves
// the old pair or the new one, and the next write removes what it left. Both
// files are flushed to the disk before they are renamed, since some file systems
// would otherwise rename first and write later.
//
// The folder of a feed is such a pair, too: a web server may serve it while it
// is written.
package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/addrspec/addrspec/lists/feed"
)

// pending is the suffix of a signature that waits for its blob.
const pending = feed.Suffix + ".new"

// File is a blob in a file, with its signature beside it. Each method opens the
// files anew.
type File struct {
	Path string
	Key  feed.PublicKey
}

// attempts is how often a pair that does not fit is read: a writer may have
// replaced one of the files between the reads of both.
const (
	attempts = 4
	pause    = 20 * time.Millisecond
)

// Read reads and verifies the pair. It does not check that the signature is
// still valid: see feed.Statement.Fresh. The error is fs.ErrNotExist if there is
// no blob.
func (f File) Read() (release *feed.Release, err error) {
	for range attempts {
		if release, err = f.read(); err == nil || errors.Is(err, fs.ErrNotExist) {
			return release, err
		}
		time.Sleep(pause)
	}
	return nil, err
}

func (f File) read() (*feed.Release, error) {
	blob, err := ReadBlob(f.Path)
	if err != nil {
		return nil, err
	}
	release, err := f.open(blob, feed.Suffix)
	if err == nil {
		return release, nil
	}
	if after, e := f.open(blob, pending); e == nil {
		return after, nil
	}
	return nil, err
}

// open verifies the blob with the signature that has this suffix.
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

// read reads a file of at most limit bytes.
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
