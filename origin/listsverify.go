package main

import (
	"context"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/lists/feed/store"
)

// listsVerifyCmd verifies lists.
type listsVerifyCmd struct {
	listsKeyFlag
	File string `arg:"" help:"The blob; its signature is beside it, with .minisig at the end of the name."`
}

// Run prints a line if the lists are in order.
func (c *listsVerifyCmd) Run(_ context.Context, std streams) error {
	if c.ListsKey.IsZero() {
		return errNoKey
	}
	release, err := store.File{Path: c.File, Key: c.ListsKey.PublicKey}.Read()
	if err == nil {
		err = release.Fresh(time.Now())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	_, err = fmt.Fprintf(std.out, "%s: lists %s, signed %s, valid until %s\n", c.File, release.Version, release.Signed.Format(minutes), release.Expires.Format(minutes))
	return err
}
