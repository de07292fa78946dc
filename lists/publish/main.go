// Command publish signs lists.blob and writes a feed: a directory that any web
// server can serve, from which services and workers take newer lists. Package
// feed describes it.
//
//	go run ./lists/publish -key lists.key [-blob lists/lists.blob] [-feed dist/feed] [-expires 30d]
//
// `addrspec lists keygen` makes a key, as `minisign -G` does. A key that has a
// password is asked for it on the terminal.
package main

import (
	"encoding/json"
	"errors"
	"flag"
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

func main() {
	var p publisher
	flag.StringVar(&p.key, "key", "", "file of the secret key")
	flag.StringVar(&p.blob, "blob", "lists/lists.blob", "the blob")
	flag.StringVar(&p.dir, "feed", "dist/feed", "directory of the feed; made if it is missing")
	flag.TextVar(&p.expires, "expires", days(30), "how long clients may take the lists over, such as 30d or 12h")
	flag.Parse()
	if err := run(p, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "publish:", err)
		os.Exit(1)
	}
}

// run publishes and prints the settings that clients need.
func run(p publisher, in io.Reader, out io.Writer) error {
	release, err := p.publish(in)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: lists %s, signed with the key %s, expire %s\n", p.dir, release.Version, release.Key().ID(), release.Expires.Format("2006-01-02 15:04 UTC"))
	fmt.Fprintf(out, "Serve this directory, and give clients --lists-key %s\n", release.Key())
	return nil
}

// publisher has the flags.
type publisher struct {
	key, blob, dir string
	expires        lifetime
}

// publish signs the blob and writes the feed. Clients fetch the signature first,
// so it is written after the blob.
func (p publisher) publish(in io.Reader) (*feed.Release, error) {
	secret, err := p.secretKey(in)
	if err != nil {
		return nil, err
	}
	blob, err := store.ReadBlob(p.blob)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	release, err := secret.Sign(blob, now, now.Add(time.Duration(p.expires)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.blob, err)
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return nil, err
	}
	file := store.File{Path: filepath.Join(p.dir, feed.BlobName), Key: secret.Public()}
	if err := file.Write(release, func(now *feed.Release) error {
		if err := notBefore(release, now); err != nil {
			return err
		}
		return writeChanges(p.dir, secret, release, now)
	}); err != nil {
		return nil, err
	}
	return release, writeSummary(p.dir, release)
}

// writeChanges writes what the release changes of the lists in the feed. It comes before
// the blob, since afterwards the lists before are gone; a program that is killed between
// both writes the same again. Lists that are published again, to be signed for longer,
// keep the changes of the first time.
func writeChanges(dir string, secret feed.SecretKey, r, published *feed.Release) error {
	path := filepath.Join(dir, feed.ChangesName)
	var before *lists.Lists
	if published != nil && published.Version != r.Version {
		before = published.Lists
	} else if c, err := store.ReadChanges(path, secret.Public()); published != nil && err == nil && c.Version == r.Version {
		return nil
	}
	text, signature, err := secret.SignChanges(feed.Compare(before, r.Lists))
	if err != nil {
		return err
	}
	return errors.Join(store.WriteFile(path, text), store.WriteFile(path+feed.Suffix, signature))
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

func (p publisher) secretKey(in io.Reader) (feed.SecretKey, error) {
	if p.key == "" {
		return feed.SecretKey{}, errors.New("-key is missing: 'addrspec lists keygen lists.key' makes a key pair")
	}
	file, err := os.Open(p.key)
	if err != nil {
		return feed.SecretKey{}, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, feed.MaxKey+1))
	if err != nil {
		return feed.SecretKey{}, err
	}
	secret, err := feed.ParseSecretKey(text, func() (string, error) {
		return prompt.Password(in, os.Stderr, "Password of "+p.key+": ")
	})
	if err != nil {
		return secret, fmt.Errorf("%s: %w", p.key, err)
	}
	return secret, nil
}

func writeSummary(dir string, r *feed.Release) error {
	text, err := json.MarshalIndent(r.Summary(), "", "  ")
	if err != nil {
		return err
	}
	return store.WriteFile(filepath.Join(dir, feed.SummaryName), append(text, '\n'))
}

// lifetime is a flag's time, such as 30d or 12h.
type lifetime time.Duration

func days(n int) lifetime { return lifetime(time.Duration(n) * 24 * time.Hour) }

// Limits of a lifetime. Clients look every few hours; a signature that never
// expires would let a server replay lists for ever.
var (
	shortest = lifetime(time.Hour)
	longest  = days(366)
)

// UnmarshalText parses a time in days, or as package time writes it.
func (l *lifetime) UnmarshalText(text []byte) error {
	var err error
	if n, inDays := strings.CutSuffix(string(text), "d"); inDays {
		var count uint64
		count, err = strconv.ParseUint(n, 10, 10)
		*l = days(int(count))
	} else {
		var d time.Duration
		d, err = time.ParseDuration(string(text))
		*l = lifetime(d)
	}
	if err != nil || *l < shortest || *l > longest {
		return fmt.Errorf("%q is not a time from 1h to 366d, such as 30d", text)
	}
	return nil
}

// MarshalText formats the default for the help text.
func (l lifetime) MarshalText() ([]byte, error) {
	return []byte(strconv.Itoa(int(time.Duration(l)/(24*time.Hour))) + "d"), nil
}
