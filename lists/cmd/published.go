package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	{'K', registry.NPM, "fakefilter", "BSD-3-Clause", "package/json/data.json", readFakefilter,
		"disposable; crawls the providers themselves, drops what it has not seen for a year"},
	{'M', registry.NPM, "mailchecker", "MIT", "package/platform/node/index.js", readMailchecker,
		"disposable, with relays among them; counts only together with I or B and without E, F"},
	{'I', registry.NPM, "disposable-email-domains", "MIT", "package/index.json", readArray,
		"disposable, stale; counts only together with M and without E, F"},
	{'B', registry.NPM, "burner-email-providers", "MIT", "package/emails.txt", readLines,
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

// names returns the domains in a fetched package, as they are written there.
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

// readArray reads a JSON array of names.
func readArray(file []byte) (names []string, err error) {
	err = json.Unmarshal(file, &names)
	return names, err
}

// readLines reads one name per line.
func readLines(file []byte) ([]string, error) { return strings.Fields(string(file)), nil }

// readFakefilter reads the keys of the object "domains".
func readFakefilter(file []byte) ([]string, error) {
	var data struct{ Domains map[string]struct{} }
	err := json.Unmarshal(file, &data)
	return slices.Collect(maps.Keys(data.Domains)), err
}

// readMailchecker reads the only array literal of the package's JavaScript.
func readMailchecker(file []byte) ([]string, error) {
	_, rest, found := bytes.Cut(file, []byte("new Set("))
	array, _, closed := bytes.Cut(rest, []byte(")"))
	if !found || !closed {
		return nil, errors.New("no `new Set(...)` in it: has the package changed?")
	}
	return readArray(array)
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
