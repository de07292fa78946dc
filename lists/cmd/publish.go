package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/prompt"
	"github.com/addrspec/addrspec/lists/feed/store"
)

// publisher signs a blob and writes a feed, which package feed describes.
type publisher struct {
	Key     string   `required:"" placeholder:"FILE" help:"Secret key, which 'addrspec lists keygen' makes."`
	Blob    string   `default:"lists/lists.blob" help:"The blob."`
	Feed    string   `default:"dist/feed" help:"Directory of the feed; made if it is missing."`
	Expires lifetime `default:"30d" help:"How long clients may take the lists over, such as 30d or 12h."`
}

// Run publishes and prints the settings that clients need.
func (p publisher) Run() error {
	r, err := p.publish()
	if err != nil {
		return err
	}
	fmt.Printf("%s: lists %s, signed with the key %s, expire %s\n",
		p.Feed, r.Version, r.Key().ID(), r.Expires.Format("2006-01-02 15:04 UTC"))
	fmt.Printf("Serve this directory, and give clients --lists-key %s\n", r.Key())
	return nil
}

func (p publisher) publish() (*feed.Release, error) {
	secret, err := p.secretKey()
	if err != nil {
		return nil, err
	}
	blob, err := store.ReadBlob(p.Blob)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	r, err := secret.Sign(blob, now, now.Add(time.Duration(p.Expires)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Blob, err)
	}
	if err := os.MkdirAll(p.Feed, 0o755); err != nil {
		return nil, err
	}
	file := store.File{Path: filepath.Join(p.Feed, feed.BlobName), Key: secret.Public()}
	if err := file.Write(r, func(now *feed.Release) error {
		if err := notBefore(r, now); err != nil {
			return err
		}
		return writeChanges(p.Feed, secret, r, now)
	}); err != nil {
		return nil, err
	}
	summary, err := json.MarshalIndent(r.Summary(), "", "  ")
	if err != nil {
		return nil, err
	}
	return r, store.WriteFile(filepath.Join(p.Feed, feed.SummaryName), append(summary, '\n'))
}

// secretKey reads the key. A password is asked for on the terminal.
func (p publisher) secretKey() (feed.SecretKey, error) {
	file, err := os.Open(p.Key)
	if err != nil {
		return feed.SecretKey{}, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, feed.MaxKey+1))
	if err != nil {
		return feed.SecretKey{}, err
	}
	secret, err := feed.ParseSecretKey(text, func() (string, error) {
		return prompt.Password(os.Stdin, os.Stderr, "Password of "+p.Key+": ")
	})
	if err != nil {
		return secret, fmt.Errorf("%s: %w", p.Key, err)
	}
	return secret, nil
}

// notBefore refuses to replace lists that were signed later, or at the same time:
// clients that have them would refuse or ignore the new ones.
func notBefore(r, published *feed.Release) error {
	switch {
	case published == nil || r.Signed.After(published.Signed):
		return nil
	case published.Signed.After(r.Signed):
		return fmt.Errorf("the lists in the feed were signed on %s, which is in the future: set the clock", published.Signed.Format(time.DateTime))
	case published.Version != r.Version:
		return errors.New("other lists were signed in the same second, which clients could not order: run it again")
	}
	return nil
}

// writeChanges writes what the release changes of the lists in the feed. It comes before
// the blob, since afterwards the lists before are gone. Lists that are published again, to be
// signed for longer, keep the changes of the first time.
func writeChanges(dir string, secret feed.SecretKey, r, published *feed.Release) error {
	path := filepath.Join(dir, feed.ChangesName)
	var before *lists.Lists
	if published != nil && published.Version != r.Version {
		before = published.Lists
	} else if published != nil {
		if c, err := store.ReadChanges(path, secret.Public()); err == nil && c.Version == r.Version {
			return nil
		}
	}
	text, signature, err := secret.SignChanges(feed.Compare(before, r.Lists))
	if err != nil {
		return err
	}
	return errors.Join(store.WriteFile(path, text), store.WriteFile(path+feed.Suffix, signature))
}

// lifetime is a flag's time, such as 30d or 12h. Clients look every few hours, hence the
// least; a signature that never expires would let a server replay lists for ever.
type lifetime time.Duration

const day = 24 * time.Hour

// UnmarshalText parses a time in days, or as package time writes it.
func (l *lifetime) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if days, inDays := strings.CutSuffix(string(text), "d"); inDays {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 10)
		d = time.Duration(n) * day
	}
	if err != nil || d < time.Hour || d > 366*day {
		return fmt.Errorf("%q is not a time from 1h to 366d, such as 30d", text)
	}
	*l = lifetime(d)
	return nil
}
