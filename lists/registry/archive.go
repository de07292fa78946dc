package registry

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
)

// Bounds of an archive. The largest in use are a tenth of them.
const (
	maxArchive  = 64 << 20  // bytes, packed
	maxUnpacked = 256 << 20 // bytes of all files
	maxFiles    = 100_000
)

// readBounded reads a downloaded archive.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxArchive+1))
	if err == nil && len(b) > maxArchive {
		err = fmt.Errorf("the archive has more than %d bytes", maxArchive)
	}
	return b, err
}

// files collects the files of an archive within bounds.
type files struct {
	byPath map[string][]byte
	left   int64 // bytes that may still be unpacked, of limit
	limit  int64
}

// add reads one file. It does not rely on the size in the file's header.
func (f *files) add(path string, r io.Reader) error {
	if len(f.byPath) == maxFiles {
		return fmt.Errorf("the archive has more than %d files", maxFiles)
	}
	b, err := io.ReadAll(io.LimitReader(r, f.left+1))
	if err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	if f.left -= int64(len(b)); f.left < 0 {
		return fmt.Errorf("the archive unpacks to more than %d bytes", f.limit)
	}
	f.byPath[path] = b
	return nil
}

// untar returns the regular files of a gzipped tarball of at most limit bytes.
func untar(tarball []byte, limit int64) (map[string][]byte, error) {
	f := &files{byPath: map[string][]byte{}, left: limit, limit: limit}
	z, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		return nil, fmt.Errorf("not a gzipped tarball: %w", err)
	}
	// Headers count too: a tarball of empty entries must end.
	for r := tar.NewReader(io.LimitReader(z, limit)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return f.byPath, nil
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			err = f.add(h.Name, r)
		}
		if err != nil {
			return nil, fmt.Errorf("damaged tarball: %w", err)
		}
	}
}

// unzip returns the files of a zip file, of at most limit bytes together.
func unzip(packed []byte, limit int64) (map[string][]byte, error) {
	f := &files{byPath: map[string][]byte{}, left: limit, limit: limit}
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, fmt.Errorf("not a zip file: %w", err)
	}
	for _, entry := range z.File {
		if !entry.Mode().IsRegular() {
			continue
		}
		r, err := entry.Open()
		if err == nil {
			err = f.add(entry.Name, r)
			r.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("damaged zip file: %w", err)
		}
	}
	return f.byPath, nil
}
