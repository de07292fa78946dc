package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxContent is the largest file that is read from a package, and maxFiles how many
// files a package may have. The packages are our own; the limits stop a mistake.
const (
	maxContent = 256 << 20
	maxFiles   = 10_000
)

// contents calls each with the files of a package: a wheel or jar, which are zip files,
// or a compressed tar file of npm, cargo or another. It reports whether the file is one
// of these.
func contents(path string, each func(name string, data []byte) error) (bool, error) {
	switch {
	case hasSuffix(path, ".whl", ".jar", ".zip"):
		return true, zipContents(path, each)
	case hasSuffix(path, ".tgz", ".crate", ".tar.gz"):
		return true, tarContents(path, each)
	}
	return false, nil
}

func hasSuffix(path string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(path, suffix) {
			return true
		}
	}
	return false
}

func zipContents(path string, each func(string, []byte) error) error {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer archive.Close()
	if len(archive.File) > maxFiles {
		return fmt.Errorf("%s has more than %d files", path, maxFiles)
	}
	for _, f := range archive.File {
		in, err := f.Open()
		if err != nil {
			return err
		}
		err = readContent(in, f.Name, each)
		if err := errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return nil
}

func tarContents(path string, each func(string, []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	archive := tar.NewReader(zipped)
	for range maxFiles {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := readContent(archive, header.Name, each); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s has more than %d files", path, maxFiles)
}

func readContent(in io.Reader, name string, each func(string, []byte) error) error {
	data, err := io.ReadAll(io.LimitReader(in, maxContent+1))
	if err != nil {
		return err
	}
	if len(data) > maxContent {
		return fmt.Errorf("%s is larger than %d bytes", name, maxContent)
	}
	return each(name, data)
}
