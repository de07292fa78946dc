// Package published has the published lists of domains that the merge rule
// uses: where each comes from and how to read it.
package published

import (
	"fmt"

	"github.com/addrspec/addrspec/lists/internal/tables"
	"github.com/addrspec/addrspec/lists/registry"
)

// Source is a published list: a file of domains in a package of a registry.
type Source struct {
	Letter   byte // its mark in sources/domains.txt
	Registry *registry.Registry
	Package  string
	Licence  string
	file     string // in the package, with the domains
	read     func(file []byte) ([]string, error)
	Remark   string // for sources/provenance.txt
}

// Sources has every published list in use. The order is that of the letters in
// domains.txt.
var Sources = []Source{
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

// Read returns the domains in a fetched package, as they are written there.
func (s Source) Read(p *registry.Package) ([]string, error) {
	file, found := p.Files[s.file]
	if !found {
		return nil, fmt.Errorf("%s@%s has no file %s: has the package changed?", p.Name, p.Version, s.file)
	}
	names, err := s.read(file)
	if err != nil {
		return nil, fmt.Errorf("%s of %s@%s: %w", s.file, p.Name, p.Version, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s of %s@%s: no domains in it: has the package changed?", s.file, p.Name, p.Version)
	}
	return names, nil
}

// Vote adds the letter of s, once, to the votes of each name that is a domain.
func (s Source) Vote(votes map[string]tables.Votes, names []string) {
	for _, written := range names {
		name, err := tables.Canonical(written)
		if err == nil && !votes[name].Any(string(s.Letter)) {
			votes[name] += tables.Votes(s.Letter)
		}
	}
}
