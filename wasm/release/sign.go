package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/prompt"
)

// signatureFile is minisign's name for the signature of SHA256SUMS.
const signatureFile = sumsFile + ".minisig"

// checkKey reads the secret key, to fail before the minutes of building.
func (r *release) checkKey() error {
	if r.key == "" {
		return nil
	}
	secret, err := readKey(r.key)
	if err != nil {
		return fmt.Errorf("the key that signs: %w", err)
	}
	r.secret = secret
	return nil
}

// readKey reads a secret key file and asks for its password if it has one.
func readKey(path string) (*feed.SecretKey, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, feed.MaxKey+1))
	if err != nil {
		return nil, err
	}
	secret, err := feed.ParseSecretKey(text, func() (string, error) {
		return prompt.Password(os.Stdin, os.Stderr, "Password of "+path+": ")
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &secret, nil
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
