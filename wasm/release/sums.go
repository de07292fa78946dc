package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/prompt"
)

// sumsFile lists the digest of every other file, in the form that sha256sum -c reads.
const sumsFile = "SHA256SUMS"

// sums writes SHA256SUMS: a line for each file, by name, but not for itself and its signature.
func (r *release) sums(context.Context) error {
	if err := os.RemoveAll(r.inOut(workDirectory)); err != nil {
		return err
	}
	var list bytes.Buffer
	err := filepath.WalkDir(r.out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(r.out, path)
		if err != nil || name == sumsFile || name == signatureFile {
			return err
		}
		digest, err := digestFile(path)
		fmt.Fprintf(&list, "%s  %s\n", digest, filepath.ToSlash(name))
		return err
	})
	return errors.Join(err, os.WriteFile(r.inOut(sumsFile), list.Bytes(), 0o644))
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

// signatureFile is minisign's name for the signature of SHA256SUMS.
const signatureFile = sumsFile + ".minisig"

// checkKey reads the secret key, to fail before the minutes of building. It asks for the
// password if the key has one.
func (r *release) checkKey() error {
	if r.key == "" {
		return nil
	}
	text, err := os.ReadFile(r.key)
	if err != nil {
		return fmt.Errorf("the key that signs: %w", err)
	}
	secret, err := feed.ParseSecretKey(text, func() (string, error) {
		return prompt.Password(os.Stdin, os.Stderr, "Password of "+r.key+": ")
	})
	if err != nil {
		return fmt.Errorf("the key that signs: %s: %w", r.key, err)
	}
	r.secret = &secret
	return nil
}

// sign signs SHA256SUMS, and so every file. The time in the trusted comment is that of
// the commit: the same key gives the same signature.
func (r *release) sign(context.Context) error {
	if r.secret == nil {
		r.skip(signatureFile + ": give the secret key with --sign; 'addrspec lists keygen release.key' makes one")
		return nil
	}
	sums, err := os.ReadFile(r.inOut(sumsFile))
	if err != nil {
		return err
	}
	comment := fmt.Sprintf("addrspec release version:%s commit:%s time:%d", r.version, r.label(), r.time.Unix())
	signature, err := r.secret.SignFile(sums, comment)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.log, "   signed with the key %s\n", r.secret.Public())
	return os.WriteFile(r.inOut(signatureFile), signature, 0o644)
}
