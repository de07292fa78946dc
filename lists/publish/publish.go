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

	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/prompt"
	"github.com/addrspec/addrspec/lists/feed/store"
)

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
	if err := file.Write(release, func(now *feed.Release) error { return notBefore(release, now) }); err != nil {
		return nil, err
	}
	return release, writeSummary(p.dir, release)
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
