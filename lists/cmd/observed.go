package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"

	"github.com/addrspec/addrspec/lists/internal/tables"
)

// The source of observed domains is on no registry: its operator fetches the file of the
// repository, or names the URL at which the git host serves it.
const (
	observedRegistry = "github"
	observedPackage  = "castle/disposable-email-domains"
	observedRemark   = "disposable; the thousand most abused of a day, seen in real abuse, each tied to a service; all days of observed.txt count"
	observedName     = "disposable-email-domains.txt"
)

// Bounds of a list of observed domains. It has a thousand names and 13 KB.
const (
	maxObserved  = 4 << 20 // bytes
	minObserved  = 100     // domains
	observedTime = time.Minute
)

// snapshot is one version of the list of observed domains.
type snapshot struct {
	names     []string
	skipped   []string // that cannot be an entry, with the reason
	integrity string
}

// readSnapshot reads the list at a URL, in a directory or in a file. before is how many
// domains the list had the last time.
func readSnapshot(from string, before int) (s *snapshot, err error) {
	file, err := readObserved(from)
	if err == nil {
		s, err = parseSnapshot(file, before)
	}
	if err != nil {
		return nil, fmt.Errorf("the list of observed domains at %s: %w", from, err)
	}
	return s, nil
}

// readObserved reads a file or a URL, within bounds.
func readObserved(from string) ([]byte, error) {
	var in io.ReadCloser
	if strings.Contains(from, "://") {
		response, err := (&http.Client{Timeout: observedTime}).Get(from)
		if err != nil {
			return nil, err
		}
		in = response.Body
		if response.StatusCode != http.StatusOK {
			in.Close()
			return nil, fmt.Errorf("the server responded with status %d", response.StatusCode)
		}
	} else {
		if info, err := os.Stat(from); err == nil && info.IsDir() {
			from = filepath.Join(from, observedName)
		}
		file, err := os.Open(from)
		if err != nil {
			return nil, err
		}
		in = file
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, maxObserved+1))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.New("the connection ended before the file did")
	}
	if err == nil && len(b) > maxObserved {
		err = fmt.Errorf("it has more than %d bytes", maxObserved)
	}
	return b, err
}

// parseSnapshot returns an error unless the file can be the whole list: one name in a
// hundred may be skipped, and half of the list of the last time is too little.
func parseSnapshot(file []byte, before int) (*snapshot, error) {
	if !utf8.Valid(file) {
		return nil, errors.New("it is not UTF-8: is it another file?")
	}
	if len(file) > 0 && file[len(file)-1] != '\n' {
		return nil, errors.New("it ends within a line: it was cut off")
	}
	s, seen := &snapshot{integrity: fmt.Sprintf("sha256:%x", sha256.Sum256(file))}, map[string]bool{}
	for line := range strings.Lines(string(file)) {
		line = strings.TrimSpace(line)
		name, err := tables.Canonical(line)
		switch suffix, _ := publicsuffix.PublicSuffix(name); {
		case line == "" || seen[name]:
		case err != nil:
			s.skipped = append(s.skipped, err.Error())
		case suffix == name: // its entry would have the domains of everybody who registers below it
			s.skipped = append(s.skipped, name+" is a public suffix")
		default:
			seen[name] = true
			s.names = append(s.names, name)
		}
	}
	switch got := len(s.names); {
	case len(s.skipped) > got/100:
		return nil, fmt.Errorf("%d of %d names cannot be entries, the first because %s: is it another file?", len(s.skipped), len(s.skipped)+got, s.skipped[0])
	case got < minObserved:
		return nil, fmt.Errorf("it has %d domains, too few for the whole list", got)
	case got < before/2:
		return nil, fmt.Errorf("it has %d domains, the last time it had %d: it may be cut off", got, before)
	}
	return s, nil
}
