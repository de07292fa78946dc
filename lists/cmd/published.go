package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"

	"github.com/addrspec/addrspec/lists/internal/tables"
	"github.com/addrspec/addrspec/lists/registry"
)

// source is a published list: a file of domains in a package of a registry.
type source struct {
	letter   byte // its mark in sources/domains.txt
	registry *registry.Registry
	pkg      string
	licence  string
	file     string // in the package, with the domains
	read     func(file []byte) ([]string, error)
	remark   string // for sources/provenance.txt
}

// published has every published list in use. They are in the order of the letters in
// domains.txt.
var published = []source{
	{'D', registry.PyPI, "disposable-email-domains", "MIT", "disposable_email_domains/__init__.py", readPython,
		"disposable; mirrors the list of that name on GitHub, which requires proof of each entry"},
	{'K', registry.NPM, "fakefilter", "BSD-3-Clause", "package/json/data.json",
		func(file []byte) ([]string, error) {
			var data struct{ Domains map[string]struct{} }
			err := json.Unmarshal(file, &data)
			return slices.Collect(maps.Keys(data.Domains)), err
		},
		"disposable; crawls the providers themselves, drops what it has not seen for a year"},
	{'M', registry.NPM, "mailchecker", "MIT", "package/platform/node/index.js",
		func(file []byte) ([]string, error) { // the only array literal of its JavaScript
			_, rest, found := bytes.Cut(file, []byte("new Set("))
			array, _, closed := bytes.Cut(rest, []byte(")"))
			if !found || !closed {
				return nil, errors.New("no `new Set(...)` in it: has the package changed?")
			}
			return readArray(array)
		},
		"disposable, with relays among them; counts only together with I or B and without E, F"},
	{'I', registry.NPM, "disposable-email-domains", "MIT", "package/index.json", readArray,
		"disposable, stale; counts only together with M and without E, F"},
	{'B', registry.NPM, "burner-email-providers", "MIT", "package/emails.txt",
		func(file []byte) ([]string, error) { return strings.Fields(string(file)), nil },
		"disposable, largely a copy of I; counts only together with M and without E, F"},
	{'F', registry.NPM, "free-email-domains", "MIT", "package/domains.json", readArray,
		"public, with disposables among them; counts only together with E and without D, K, M"},
	{'E', registry.NPM, "email-providers", "ISC", "package/all.json", readArray,
		"public, with disposables among them; counts only together with F and without D, K, M"},
}

// fetch fetches a source, adds its votes and returns its row. If it is not
// pinned or latest is set, it fetches the newest version.
func (s source) fetch(pinned tables.Source, latest bool, votes map[string]tables.Votes) (tables.Source, error) {
	spec := pinned.Package
	if spec == "" || latest {
		spec = s.pkg
	}
	got, err := s.registry.Fetch(spec)
	if err != nil {
		return pinned, err
	}
	row := tables.Source{Letter: string(s.letter), Registry: s.registry.Name, Package: got.Name + "@" + got.Version,
		Licence: s.licence, Fetched: today(), Integrity: got.Integrity, Remark: s.remark}
	if row.Package == pinned.Package {
		row.Fetched = pinned.Fetched
		if row.Integrity != pinned.Integrity {
			return row, fmt.Errorf("%s: integrity is %s, provenance.txt has %s", spec, row.Integrity, pinned.Integrity)
		}
	}
	names, err := s.names(got)
	row.Count = fmt.Sprint(len(names))
	s.vote(votes, names)
	return row, err
}

func (s source) names(p *registry.Package) ([]string, error) {
	file, found := p.Files[s.file]
	if !found {
		return nil, fmt.Errorf("%s@%s has no file %s: has the package changed?", p.Name, p.Version, s.file)
	}
	names, err := s.read(file)
	if err == nil && len(names) == 0 {
		err = errors.New("no domains in it: has the package changed?")
	}
	if err != nil {
		return nil, fmt.Errorf("%s of %s@%s: %w", s.file, p.Name, p.Version, err)
	}
	return names, nil
}

// vote adds the letter of s, once, to the votes of each name that is a domain.
func (s source) vote(votes map[string]tables.Votes, names []string) {
	for _, written := range names {
		name, err := tables.Canonical(written)
		if err == nil && !votes[name].Any(string(s.letter)) {
			votes[name] += tables.Votes(s.letter)
		}
	}
}

func readArray(file []byte) (names []string, err error) {
	err = json.Unmarshal(file, &names)
	return names, err
}

// readPython reads the set `blocklist` of the package's Python, one quoted name
// per line. Older versions have a second set, of real providers.
func readPython(file []byte) (names []string, err error) {
	_, rest, found := bytes.Cut(file, []byte("blocklist = {\n"))
	set, _, closed := bytes.Cut(rest, []byte("\n}"))
	if !found || !closed {
		return nil, errors.New("no set `blocklist = {...}` in it: has the package changed?")
	}
	for line := range bytes.Lines(set) {
		name := strings.Trim(strings.TrimSpace(string(line)), `'",`)
		if strings.ContainsAny(name, ` '"#\`) {
			return nil, errors.New("a line of the set `blocklist` is not one quoted name: has the package changed?")
		}
		names = append(names, name)
	}
	return names, nil
}

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
