package tables

import (
	"fmt"
	"maps"

	"github.com/addrspec/addrspec/lists"
	"golang.org/x/net/publicsuffix"
)

// Merge reads the tables under dir and settles every conflict, in this order:
// relay, exact or by parent, wins; then the hand-kept public, allow and
// disposable tables; then what the published lists say; last the
// domains that are merely in use.
func Merge(dir string) (Map, error) {
	m := Map{}
	for _, t := range []struct {
		file  string
		class lists.Class
	}{
		{"relay.txt", lists.Relay},
		{"public.txt", lists.Public},
		{"allow.txt", lists.Known},
		{"disposable.txt", lists.Disposable},
	} {
		if err := m.addTable(dir, t.file, t.class); err != nil {
			return nil, err
		}
	}
	if err := m.addListed(dir); err != nil {
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

// addTable adds a hand-kept table. A name may stand in one table only.
func (m Map) addTable(dir, file string, class lists.Class) error {
	rows, err := readTable(dir, file)
	if err != nil {
		return err
	}
	for _, r := range rows {
		_, taken := m[r.name]
		switch {
		case taken:
			return fmt.Errorf("%s: %s stands in another table too", file, r.name)
		case isSuffix(r.name):
			return fmt.Errorf("%s: %s is a public suffix, below it anybody registers", file, r.name)
		}
		m[r.name] = Entry{class, r.below || class == lists.Disposable}
	}
	return nil
}

// addKnown adds a table of domains that are in use. That merely silences the
// typo check, so it yields to every class that says more.
func (m Map) addKnown(dir, file string) error {
	rows, err := readTable(dir, file)
	for _, r := range rows {
		if _, taken := m[r.name]; !taken {
			m[r.name] = Entry{lists.Known, r.below}
		}
	}
	return err
}

// addListed adds what the published lists say where no hand-kept table does.
func (m Map) addListed(dir string) error {
	listed, err := ReadListed(dir)
	if err != nil {
		return err
	}
	d, err := readDoubts(dir)
	if err != nil {
		return err
	}
	hand := maps.Clone(m)
	for name, votes := range listed {
		if hand.settles(name) || d.ignored[name] || isSuffix(name) {
			continue
		}
		switch {
		case votes.Proven(), votes.Agreed(name) && !d.misspelled(name):
			m[name] = Entry{lists.Disposable, !d.shared[name]}
		case votes.Public() && !organisation(name):
			m[name] = Entry{lists.Public, false}
		}
	}
	return nil
}

// settles reports whether the hand-kept tables decide about name: they hold
// it, or a relay covers it.
func (m Map) settles(name string) bool {
	if _, held := m[name]; held {
		return true
	}
	e, covered := m.covering(name)
	return covered && e.Class == lists.Relay
}

// dropRedundant drops the entries that a parent answers alike.
func (m Map) dropRedundant() {
	for name, e := range maps.Clone(m) {
		if parent, covered := m.covering(name); covered && parent == (Entry{e.Class, true}) {
			delete(m, name)
		}
	}
}

// isSuffix reports whether name is a public suffix, of a registry or of a
// company that lets anybody register below it (the list's private section).
func isSuffix(name string) bool {
	suffix, _ := publicsuffix.PublicSuffix(name)
	return suffix == name
}
