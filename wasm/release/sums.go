package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// sumsFile lists the digest of every other file, in the form that sha256sum -c reads.
const sumsFile = "SHA256SUMS"

// sums writes SHA256SUMS.
func (r *release) sums(context.Context) error {
	if err := os.RemoveAll(r.inOut(workFolder)); err != nil {
		return err
	}
	list, err := digests(r.out)
	if err != nil {
		return err
	}
	return os.WriteFile(r.inOut(sumsFile), list, 0o644)
}

// digests returns a line for each file of dir and its folders, by name, but not for the
// list and its signature.
func digests(dir string) ([]byte, error) {
	var list bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == sumsFile || name == signatureFile {
			return err
		}
		digest, err := digestFile(path)
		fmt.Fprintf(&list, "%s  %s\n", digest, filepath.ToSlash(name))
		return err
	})
	return list.Bytes(), err
}

// digestFile returns the SHA-256 of a file in hexadecimal.
func digestFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
