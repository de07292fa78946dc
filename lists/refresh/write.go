package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

const provenanceHeader = `# The published lists behind domains.txt, written by "go run ./lists/refresh". A line has
# letter, registry:package@version, licence, day this version was first fetched, number of
# domains, integrity of its archive, remark. "checked" is the day on which the registries
# were last asked for newer versions.
`

const domainsHeader = `# Domains on the published lists that the merge rule can use, each with the letters of its
# lists (provenance.txt). Written by "go run ./lists/refresh"; not edited by hand.
`

// provenance returns the text of provenance.txt.
func (f fetched) provenance() string {
	text := provenanceHeader + "checked " + f.checked + "\n"
	for _, s := range f.sources {
		text += fmt.Sprintf("%s %s:%s %s %s %s %s %s\n",
			s.Letter, s.Registry, s.Package, s.Licence, s.Fetched, s.Count, s.Integrity, s.Remark)
	}
	return text
}

// domains returns the text of domains.txt. It omits the domains that the merge
// rule cannot use: three quarters of 160,000.
func (f fetched) domains() string {
	var lines []string
	for name, v := range f.votes {
		if v.Useful(name) {
			lines = append(lines, name+" "+string(v)+"\n")
		}
	}
	sort.Strings(lines)
	return domainsHeader + strings.Join(lines, "")
}

// write replaces domains.txt and provenance.txt. Both new files are complete
// before the first replaces an old one.
func (f fetched) write(dir string) error {
	domains, provenance := filepath.Join(dir, "sources", "domains.txt"), filepath.Join(dir, "sources", "provenance.txt")
	defer os.Remove(domains + ".new")
	defer os.Remove(provenance + ".new")
	if err := os.WriteFile(domains+".new", []byte(f.domains()), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(provenance+".new", []byte(f.provenance()), 0o644); err != nil {
		return err
	}
	if err := os.Rename(domains+".new", domains); err != nil {
		return err
	}
	return os.Rename(provenance+".new", provenance)
}
