package tables

import (
	"fmt"
	"maps"
	"strings"

	"github.com/addrspec/addrspec/lists"
	"golang.org/x/net/publicsuffix"
)

// Merge reads the tables in dir and returns one entry per domain. Precedence: the
// first five hand-written tables, of which a name can be in one only; the
// published lists, unless a relay or no-reply host covers the name; domains in use.
// lists/README.md has the rule.
func Merge(dir string) (Map, error) {
	votes, err := ReadVotes(dir)
	if err != nil {
		return nil, err
	}
	return MergeVotes(dir, votes)
}

// MergeVotes merges the hand-written tables in dir with votes instead of those
// of sources/domains.txt.
func MergeVotes(dir string, votes map[string]Votes) (Map, error) {
	m := Map{}
	for _, t := range []struct {
		file  string
		class lists.Class
	}{
		{"no-reply.txt", lists.NoMail},
		{"relay.txt", lists.Relay},
		{"public.txt", lists.Public},
		{"allow.txt", lists.Known},
		{"disposable.txt", lists.Disposable},
	} {
		if err := m.addTable(dir, t.file, t.class); err != nil {
			return nil, err
		}
	}
	if err := m.addPublished(dir, votes); err != nil {
		return nil, err
	}
	for _, file := range []string{"known.txt", "near.txt"} {
		if err := m.addKnown(dir, file); err != nil {
			return nil, err
		}
	}
	m.dropRedundant()
	return m, nil
}

// addTable adds a hand-written table. It returns an error if a name is in
// another one already or is a public suffix. A suffix of the private section may
// be there if its entry covers no subdomains: iki.fi forwards mail itself.
func (m Map) addTable(dir, file string, class lists.Class) error {
	rows, err := readTable(dir, file)
	if err != nil {
		return err
	}
	for _, r := range rows {
		_, taken := m[r.name]
		covers := r.subdomains || class == lists.Disposable
		switch {
		case taken:
			return fmt.Errorf("%s: %s is in another table too", file, r.name)
		case isPublicSuffix(r.name) && (covers || isRegistrySuffix(r.name)):
			return fmt.Errorf("%s: %s is a public suffix: anybody can register names below it", file, r.name)
		}
		m[r.name] = Entry{class, covers}
	}
	return nil
}

// addKnown adds a table of domains in use, except those that have a class
// already: Known only keeps the typo check from correcting a domain.
func (m Map) addKnown(dir, file string) error {
	rows, err := readTable(dir, file)
	for _, r := range rows {
		if _, taken := m[r.name]; !taken {
			m[r.name] = Entry{lists.Known, r.subdomains}
		}
	}
	return err
}

// addPublished adds the domains of the published lists about which no
// hand-written table decides.
func (m Map) addPublished(dir string, votes map[string]Votes) error {
	c, err := readCorrections(dir)
	if err != nil {
		return err
	}
	byHand := maps.Clone(m)
	for name, v := range votes {
		if byHand.decides(name) || c.ignored[name] || isPublicSuffix(name) {
			continue
		}
		switch {
		case v.Proven(), v.Agreed(name) && !c.misspelled(name) && !c.borrowed(name):
			m[name] = Entry{lists.Disposable, !c.shared[name]}
		case v.Public() && !isInstitution(name):
			m[name] = Entry{lists.Public, false}
		}
	}
	return nil
}

// decides reports whether m has an entry for name or one of a relay or no-reply host that covers it.
func (m Map) decides(name string) bool {
	if _, ok := m[name]; ok {
		return true
	}
	e, covered := m.covering(name)
	return covered && e.Class&(lists.Relay|lists.NoMail) != 0
}

// dropRedundant deletes the entries that the entry of a parent implies.
func (m Map) dropRedundant() {
	for name, e := range maps.Clone(m) {
		if parent, covered := m.covering(name); covered && parent == (Entry{e.Class, true}) {
			delete(m, name)
		}
	}
}

// isPublicSuffix reports whether name is on the Public Suffix List, either as a
// suffix of a registry or in the private section, as one of a company that lets
// anybody register names below it.
func isPublicSuffix(name string) bool {
	suffix, _ := publicsuffix.PublicSuffix(name)
	return suffix == name
}

// isRegistrySuffix reports whether name is a suffix of a registry, such as co.uk.
func isRegistrySuffix(name string) bool {
	suffix, icann := publicsuffix.PublicSuffix(name)
	return suffix == name && (icann || !strings.Contains(name, "."))
}
