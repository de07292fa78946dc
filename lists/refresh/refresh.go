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

// run rewrites the sources under dir and reports what that changed.
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

// collect fetches every origin: which of them hold a name, and the text of
// provenance.txt.
func collect(dir string, latest bool) (map[string]tables.Votes, string, error) {
	pinned, err := tables.ReadProvenance(dir)
	if err != nil {
		return nil, "", err
	}
	votes, provenance := map[string]tables.Votes{}, provenanceHead
	for _, o := range origins {
		line, err := o.collect(votes, pin(o, pinned, latest))
		if err != nil {
			return nil, "", err
		}
		provenance += line
	}
	return votes, provenance, nil
}

const provenanceHead = `# The published lists behind domains.txt, written by "go run ./lists/refresh":
# letter, npm package, licence, day it was read, domains in it, integrity of its tarball, remark.
`

// pin returns the origin as provenance.txt records it; its version and day
// are empty when the newest is wanted.
func pin(o origin, pinned []tables.Origin, latest bool) tables.Origin {
	for _, p := range pinned {
		if name, _, _ := strings.Cut(p.Package, "@"); name == o.name && !latest {
			return p
		}
	}
	return tables.Origin{Package: o.name, Read: time.Now().UTC().Format(time.DateOnly)}
}

// collect fetches one origin, adds its votes and returns its line of
// provenance.
func (o origin) collect(votes map[string]tables.Votes, p tables.Origin) (string, error) {
	got, err := npm.Fetch(p.Package)
	if err != nil {
		return "", err
	}
	if p.Integrity != "" && p.Integrity != got.Integrity {
		return "", fmt.Errorf("%s: integrity is %s, provenance.txt has %s", p.Package, got.Integrity, p.Integrity)
	}
	listed, err := o.read(got.Files[o.file])
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", p.Package, o.file, err)
	}
	if len(listed) == 0 {
		return "", fmt.Errorf("%s %s: no domains in it: has the package changed?", p.Package, o.file)
	}
	o.vote(votes, listed)
	return fmt.Sprintf("%c %s@%s %s %s %d %s %s\n",
		o.letter, got.Name, got.Version, o.licence, p.Read, len(listed), got.Integrity, o.about), nil
}

// vote marks each name that is a domain as held by o, once.
func (o origin) vote(votes map[string]tables.Votes, listed []string) {
	for _, written := range listed {
		name, err := tables.Canonical(written)
		if err == nil && !strings.Contains(string(votes[name]), string(o.letter)) {
			votes[name] += tables.Votes(o.letter)
		}
	}
}

// write keeps the names that the merge rule can use, sorted, one a line.
func write(dir string, votes map[string]tables.Votes, provenance string) error {
	var lines []string
	for name, v := range votes {
		if v.Proven() || v.Agreed(name) || v.Public() {
			lines = append(lines, name+" "+string(v)+"\n")
		}
	}
	sort.Strings(lines)
	head := "# Domains that a published list names and the merge rule can use, with the letters of\n" +
		"# those lists (provenance.txt). Written by \"go run ./lists/refresh\"; not edited by hand.\n"
	if err := os.WriteFile(filepath.Join(dir, "sources", "domains.txt"), []byte(head+strings.Join(lines, "")), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "sources", "provenance.txt"), []byte(provenance), 0o644)
}
