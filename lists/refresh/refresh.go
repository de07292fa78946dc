package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/addrspec/addrspec/lists/internal/tables"
	"github.com/addrspec/addrspec/lists/npm"
)

// run rewrites the files in dir/sources and reports which domains that
// reclassifies. If latest is set, it fetches the newest versions.
func run(dir string, latest, all bool) error {
	before, err := tables.Merge(dir)
	if err != nil {
		return err
	}
	votes, provenance, err := collect(dir, latest)
	if err != nil {
		return err
	}
	if err := write(dir, votes, provenance); err != nil {
		return err
	}
	after, err := tables.Merge(dir)
	if err != nil {
		return err
	}
	report(os.Stdout, before, after, votes, all)
	return nil
}

// collect fetches every source. It returns the votes for each domain and the
// text of provenance.txt.
func collect(dir string, latest bool) (map[string]tables.Votes, string, error) {
	pinned, err := tables.ReadProvenance(dir)
	if err != nil {
		return nil, "", err
	}
	votes, provenance := map[string]tables.Votes{}, provenanceHeader
	for _, s := range sources {
		line, err := s.collect(votes, pin(s, pinned, latest))
		if err != nil {
			return nil, "", err
		}
		provenance += line
	}
	return votes, provenance, nil
}

const provenanceHeader = `# The published lists behind domains.txt, written by "go run ./lists/refresh". A line has
# letter, npm package, licence, day it was fetched, number of domains, integrity of its tarball, remark.
`

// pin returns the row of provenance.txt for s, or one without version and
// integrity if latest is set or there is none.
func pin(s source, pinned []tables.Source, latest bool) tables.Source {
	for _, p := range pinned {
		if name, _, _ := strings.Cut(p.Package, "@"); name == s.name && !latest {
			return p
		}
	}
	return tables.Source{Package: s.name, Fetched: time.Now().UTC().Format(time.DateOnly)}
}

// collect fetches one source, adds its votes and returns its line of
// provenance.txt.
func (s source) collect(votes map[string]tables.Votes, p tables.Source) (string, error) {
	got, err := npm.Fetch(p.Package)
	if err != nil {
		return "", err
	}
	if p.Integrity != "" && p.Integrity != got.Integrity {
		return "", fmt.Errorf("%s: integrity is %s, provenance.txt has %s", p.Package, got.Integrity, p.Integrity)
	}
	names, err := s.read(got.Files[s.file])
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", p.Package, s.file, err)
	}
	if len(names) == 0 {
		return "", fmt.Errorf("%s %s: no domains in it: has the package changed?", p.Package, s.file)
	}
	s.vote(votes, names)
	return fmt.Sprintf("%c %s@%s %s %s %d %s %s\n",
		s.letter, got.Name, got.Version, s.licence, p.Fetched, len(names), got.Integrity, s.remark), nil
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

const domainsHeader = `# Domains on the published lists that the merge rule can use, each with the letters of its
# lists (provenance.txt). Written by "go run ./lists/refresh"; not edited by hand.
`

// write writes domains.txt and provenance.txt. It omits the domains that the
// merge rule cannot use: three quarters of 160,000.
func write(dir string, votes map[string]tables.Votes, provenance string) error {
	var lines []string
	for name, v := range votes {
		if v.Proven() || v.Agreed(name) || v.Public() {
			lines = append(lines, name+" "+string(v)+"\n")
		}
	}
	sort.Strings(lines)
	domains := domainsHeader + strings.Join(lines, "")
	if err := os.WriteFile(filepath.Join(dir, "sources", "domains.txt"), []byte(domains), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "sources", "provenance.txt"), []byte(provenance), 0o644)
}
