package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/prompt"
)

// listsKeygenCmd makes a key pair, as minisign -G does.
type listsKeygenCmd struct {
	File       string `arg:"" help:"Where to write the secret key, such as lists.key. The public key goes beside it, as lists.pub."`
	NoPassword bool   `help:"Do not encrypt the secret key, for jobs that sign without a person. Protect the file well."`
}

// Run writes both files and prints the public key. It never replaces a file.
func (c *listsKeygenCmd) Run(_ context.Context, std streams) error {
	public := strings.TrimSuffix(c.File, filepath.Ext(c.File)) + ".pub"
	if public == c.File {
		return usageError{errors.New("the secret key's file must not end in .pub")}
	}
	if err := requireNone(c.File, public); err != nil {
		return err
	}
	key, secret, err := feed.GenerateKey()
	if err != nil {
		return err
	}
	text, err := c.encrypt(secret, std)
	if err != nil {
		return err
	}
	if err := writeNew(c.File, text, 0o600); err != nil {
		return err
	}
	if err := writeNew(public, key.File(), 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "%s is the secret key: it signs lists, keep it from others and keep a copy\n%s is the public key, for --lists-key: %s\n", c.File, public, key)
	return err
}

func (c *listsKeygenCmd) encrypt(secret feed.SecretKey, std streams) ([]byte, error) {
	if c.NoPassword {
		return secret.File("")
	}
	password, err := askTwice(std)
	if err != nil {
		return nil, fmt.Errorf("%w (--no-password makes a key without one)", err)
	}
	return secret.File(password)
}

// askTwice asks for a password, on a terminal twice.
func askTwice(std streams) (string, error) {
	password, err := prompt.Password(std.in, std.err, "Password for the secret key: ")
	if err != nil || !prompt.IsTerminal(std.in) {
		return password, err
	}
	again, err := prompt.Password(std.in, std.err, "Again: ")
	if err != nil {
		return "", err
	}
	if password != again || password == "" {
		return "", errors.New("the passwords differ, or are empty")
	}
	return password, nil
}

func requireNone(files ...string) error {
	for _, file := range files {
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s exists already: a feed whose key is lost needs a new key in every client", file)
		}
	}
	return nil
}

// writeNew writes a file that does not exist yet.
func writeNew(path string, text []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}
