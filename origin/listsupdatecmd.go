package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/prompt"
	"github.com/addrspec/addrspec/lists/feed/store"
	"github.com/addrspec/addrspec/origin/listupdate"
)

// listsUpdateCmd fetches newer lists.
type listsUpdateCmd struct {
	listsKeyFlag
	From   string `required:"" env:"ADDRSPEC_LISTS_URL" placeholder:"URL|FILE" help:"The feed: the URL of its folder, or a folder or a blob on this machine, with the signature beside it."`
	Lists  string `placeholder:"FILE" help:"Where to store the lists: the file of serve's --lists."`
	DryRun bool   `help:"Verify and report, but store nothing."`
}

// Run fetches, verifies and stores. In a pipe it prints nothing, so that a cron
// job mails only failures.
func (c *listsUpdateCmd) Run(ctx context.Context, std streams) error {
	source, err := c.source()
	if err != nil {
		return usageError{err}
	}
	if prompt.IsTerminal(std.err) {
		source.Progress = func(text string) { fmt.Fprintln(std.err, text) }
	}
	used, err := c.inUse()
	if err != nil {
		return err
	}
	release, err := source.Newer(ctx, c.ListsKey.PublicKey, used, time.Now())
	if err != nil {
		return c.unchanged(err, used)
	}
	if release != nil && !c.DryRun {
		if err := c.store(release); err != nil {
			return c.unchanged(err, used)
		}
	}
	if c.DryRun || prompt.IsTerminal(std.out) {
		fmt.Fprintln(std.out, c.outcome(release, used))
	}
	return nil
}

// source checks the command line and returns the feed.
func (c *listsUpdateCmd) source() (*listupdate.Source, error) {
	if c.ListsKey.IsZero() {
		return nil, errNoKey
	}
	if c.Lists == "" && !c.DryRun {
		return nil, errors.New("--lists is missing: give the file in which to store the lists, the same as for serve, or --dry-run")
	}
	source, err := listupdate.Parse(c.From)
	if err != nil {
		return nil, fmt.Errorf("--from %w", err)
	}
	return source, nil
}

// inUse returns the lists that the update would replace: those of the file, or
// the built-in ones.
func (c *listsUpdateCmd) inUse() (feed.InUse, error) {
	builtIn := feed.InUse{Version: feed.DescribeBuiltIn().Version}
	if c.Lists == "" {
		return builtIn, nil
	}
	release, err := c.file().Read()
	if err == nil {
		return feed.InUse{Version: release.Version, Signed: release.Signed}, nil
	}
	blob, err := store.ReadBlob(c.Lists)
	if errors.Is(err, fs.ErrNotExist) {
		return builtIn, nil
	}
	if err != nil && !errors.As(err, new(*feed.Error)) {
		return feed.InUse{}, err
	}
	if unsigned, err := feed.DescribeBlob(blob); err == nil {
		return feed.InUse{Version: unsigned.Version}, nil
	}
	return builtIn, nil // a damaged file is replaced
}

func (c *listsUpdateCmd) file() store.File {
	return store.File{Path: c.Lists, Key: c.ListsKey.PublicKey}
}

// store replaces the file, unless another update was quicker.
func (c *listsUpdateCmd) store(r *feed.Release) error {
	return c.file().Write(r, func(now *feed.Release) error {
		if now == nil {
			return nil
		}
		_, err := r.Supersedes(feed.InUse{Version: now.Version, Signed: now.Signed})
		return err
	})
}

// unchanged adds to an error that nothing was replaced.
func (c *listsUpdateCmd) unchanged(err error, used feed.InUse) error {
	return fmt.Errorf("the lists remain %s: %w", used.Version, err)
}

func (c *listsUpdateCmd) outcome(r *feed.Release, used feed.InUse) string {
	switch {
	case r == nil:
		return fmt.Sprintf("%s are the newest lists of the feed", used.Version)
	case c.DryRun:
		return fmt.Sprintf("%s would replace %s; signed %s, valid until %s", r.Version, used.Version, r.Signed.Format(minutes), r.Expires.Format(minutes))
	}
	return fmt.Sprintf("%s has %s, before %s; a running service takes them over within seconds", c.Lists, r.Version, used.Version)
}
