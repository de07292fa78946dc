package published

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"

	"github.com/addrspec/addrspec/lists/internal/tables"
)

// The source of observed domains is on no registry: its operator fetches the file of the
// repository, or names the URL at which the git host serves it.
const (
	ObservedRegistry = "github"
	ObservedPackage  = "castle/disposable-email-domains"
	ObservedLicence  = "MIT"
	ObservedRemark   = "disposable; the thousand most abused of a day, seen in real abuse, each tied to a service; all days of observed.txt count"
	observedName     = "disposable-email-domains.txt"
)

// Bounds of a list of observed domains. It has a thousand names and 13 KB.
const (
	maxObserved  = 4 << 20 // bytes
	minObserved  = 100     // domains
	observedTime = time.Minute
)

// Snapshot is one version of the list of observed domains.
type Snapshot struct {
	Days      map[string]string // the day on which the list carried the domain
	Skipped   []string          // names that cannot be an entry, with the reason
	Integrity string
}

// ReadObserved reads the list at a URL, in a directory or in a file, as that of a day. A
// file that ends in .json is a history: an object with the first day of each domain.
// before is how many domains the list had the last time; a list of less than half of them
// is refused, since it may be cut off.
func ReadObserved(from, day string, before int) (*Snapshot, error) {
	s, err := readObserved(from, day)
	if err == nil {
		err = s.complete(before)
	}
	if err != nil {
		return nil, fmt.Errorf("the list of observed domains at %s: %w", from, err)
	}
	return s, nil
}

func readObserved(from, day string) (*Snapshot, error) {
	file, err := readBounded(from)
	switch {
	case err != nil:
		return nil, err
	case !utf8.Valid(file):
		return nil, errors.New("it is not UTF-8: is it another file?")
	case len(file) > 0 && file[len(file)-1] != '\n' && file[len(file)-1] != '}':
		return nil, errors.New("it ends within a line: it was cut off")
	}
	s := &Snapshot{Days: map[string]string{}, Integrity: fmt.Sprintf("sha256:%x", sha256.Sum256(file))}
	if strings.HasSuffix(from, ".json") {
		return s, s.addHistory(file)
	}
	for line := range strings.Lines(string(file)) {
		if line = strings.TrimSpace(line); line != "" {
			s.add(line, day)
		}
	}
	return s, nil
}

// readBounded reads a file or a URL.
func readBounded(from string) ([]byte, error) {
	in, err := open(from)
	if err != nil {
		return nil, err
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

func open(from string) (io.ReadCloser, error) {
	if strings.Contains(from, "://") {
		return get(from)
	}
	if info, err := os.Stat(from); err == nil && info.IsDir() {
		from = filepath.Join(from, observedName)
	}
	return os.Open(from)
}

// body is that of a response, with the time limit of its request.
type body struct {
	io.ReadCloser
	cancel func()
}

func (b body) Close() error { defer b.cancel(); return b.ReadCloser.Close() }

func get(url string) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(context.Background(), observedTime)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	response, err := http.DefaultClient.Do(r)
	if err == nil && response.StatusCode != http.StatusOK {
		response.Body.Close()
		err = fmt.Errorf("the server responded with status %d", response.StatusCode)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return body{response.Body, cancel}, nil
}

func (s *Snapshot) addHistory(file []byte) error {
	var days map[string]string
	if err := json.Unmarshal(file, &days); err != nil {
		return err
	}
	for name, day := range days {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return fmt.Errorf("the day of %q: %w", name, err)
		}
		s.add(name, day)
	}
	slices.Sort(s.Skipped)
	return nil
}

// add adds a name, unless it cannot be an entry. An entry for a public suffix would have
// the domains of everybody who registers below it.
func (s *Snapshot) add(written, day string) {
	name, err := tables.Canonical(written)
	if err != nil {
		s.Skipped = append(s.Skipped, err.Error())
		return
	}
	if suffix, _ := publicsuffix.PublicSuffix(name); suffix == name {
		s.Skipped = append(s.Skipped, name+" is a public suffix")
		return
	}
	s.Days[name] = day
}

// complete returns an error unless the snapshot can be the whole list: one name in a
// hundred may be skipped, and half of the list is too little.
func (s *Snapshot) complete(before int) error {
	switch got := len(s.Days); {
	case len(s.Skipped) > got/100:
		return fmt.Errorf("%d of %d names cannot be entries, the first because %s: is it another file?", len(s.Skipped), len(s.Skipped)+got, s.Skipped[0])
	case got < minObserved:
		return fmt.Errorf("it has %d domains, too few for the whole list", got)
	case got < before/2:
		return fmt.Errorf("it has %d domains, the last time it had %d: it may be cut off", got, before)
	}
	return nil
}
