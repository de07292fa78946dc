package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/addrspec/addrspec/lists/feed"
)

// listsKey is a flag's public key, given as minisign's line or as a .pub file.
type listsKey struct{ feed.PublicKey }

// UnmarshalText parses a key, or reads its file. Its errors do not repeat a key,
// which may be a secret one by mistake.
func (k *listsKey) UnmarshalText(text []byte) (err error) {
	given := string(text)
	if given == "" {
		return nil
	}
	if !feed.IsKey(given) {
		if given, err = readKeyFile(given); err != nil {
			return err
		}
	}
	k.PublicKey, err = feed.ParsePublicKey(given)
	return err
}

func readKeyFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("neither a public key of minisign nor a file with one: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, feed.MaxKey))
	return string(text), err
}

// errNoKey is the error of a command that needs --lists-key.
var errNoKey = usageError{errors.New("--lists-key is missing: give the public key of the signer, or a .pub file with it. " +
	"For a feed of your own, 'addrspec lists keygen lists.key' makes a key pair, and './build.sh lists --latest --sign lists.key --feed DIR' signs")}
