// Package tables reads the text tables in lists/ and merges them into one entry
// per domain. The packer encodes the merged entries; tests compare the packed
// blob with them.
package tables

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/addrspec/addrspec/lists"
)

// Entry is the merged entry of one domain.
type Entry struct {
	Class      lists.Class
	Subdomains bool // the entry covers every name below its own too
}

// Map has the entries by domain, lower case and in A-label form.
type Map map[string]Entry

// Merge reads the tables in dir and returns one entry per domain, by the rule in
// lists/README.md.
func Merge(dir string) (Map, error) {
	votes, err := readVotes(dir)
	if err != nil {
		return nil, err
	}
	return MergeVotes(dir, votes)
}

// MergeVotes merges the hand-written tables in dir with votes instead of those
// of sources/domains.txt.
func MergeVotes(dir string, votes map[string]Votes) (Map, error) {
	m := Map{}
	// A name can be in one of these only.
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
		rows, err := readTable(dir, t.file)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			_, taken := m[r.name]
			covers := r.subdomains || t.class == lists.Disposable
			switch {
			case taken:
				return nil, fmt.Errorf("%s: %s is in another table too", t.file, r.name)
			case TooWide(r.name, covers):
				return nil, fmt.Errorf("%s: %s is a public suffix: anybody can register names below it", t.file, r.name)
			}
			m[r.name] = Entry{t.class, covers}
		}
	}
	if err := m.addPublished(dir, votes); err != nil {
		return nil, err
	}
	for _, file := range []string{"known.txt", "near.txt"} {
		rows, err := readTable(dir, file)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if _, taken := m[r.name]; !taken {
				m[r.name] = Entry{lists.Known, r.subdomains}
			}
		}
	}
	endings, err := readEndings(dir)
	if err != nil {
		return nil, err
	}
	for _, ending := range endings {
		m[ending] = Entry{lists.Unproven, true}
	}
	// Entries that the entry of a parent implies are redundant. An unproven one hides no parent's.
	for name, e := range maps.Clone(m) {
		if parent, covered := m.covering(name); covered && (parent == (Entry{e.Class, true}) || e.Class == lists.Unproven) {
			delete(m, name)
		}
	}
	return m, nil
}

// addPublished adds the domains of the published lists about which no
// hand-written table decides.
func (m Map) addPublished(dir string, votes map[string]Votes) error {
	c, err := readCorrections(dir)
	if err != nil {
		return err
	}
	for _, name := range c.lent {
		m[name] = Entry{lists.Disposable, true}
	}
	byHand := maps.Clone(m)
	for name, v := range votes {
		_, decided := byHand[name]
		parent, covered := byHand.covering(name)
		if decided || covered && parent.Class&(lists.Relay|lists.NoMail) != 0 || c.excludes(name) || isPublicSuffix(name) {
			continue
		}
		v = v.without(c.withdrawn[name])
		// A provider's name under another ending (gmail.net), or with one more (gmail.com.co), is
		// misspelled, or somebody else's: a throw-away provider gains nothing by one.
		label := firstLabel(name)
		shorter := name[:strings.LastIndexByte(name, '.')]
		shortLabel := firstLabel(shorter)
		borrowed := c.labels[label] && isPublicSuffix(name[len(label)+1:]) ||
			slices.Contains(c.targets[shorter[len(shortLabel):]], shortLabel)
		agreed := v.agreed(name) && !c.misspelled(name) && !borrowed
		switch {
		case v.proven(), v.observed() && !c.misspelled(name), agreed && namesItself(name):
			m[name] = Entry{lists.Disposable, true}
		case agreed:
			m[name] = Entry{lists.Unproven, true}
		case v.public():
			// Lists of public providers have names of institutions, where not everybody can open a mailbox.
			labels := strings.Split(name, ".")
			last := labels[len(labels)-1]
			if !reserved[last] && !(len(last) == 2 && len(labels) > 2 && reserved[labels[len(labels)-2]]) {
				m[name] = Entry{lists.Public, false}
			}
		}
	}
	return nil
}

// TooWide reports whether an entry of name would classify the domains of everybody who
// registers below it: always below a registry's suffix such as co.uk, and below one of the
// private section if the entry covers subdomains (iki.fi forwards mail itself).
func TooWide(name string, covers bool) bool {
	suffix, icann := publicsuffix.PublicSuffix(name)
	return suffix == name && (covers || icann || !strings.Contains(name, "."))
}

// isPublicSuffix reports whether name is on the Public Suffix List, in either section.
func isPublicSuffix(name string) bool { return TooWide(name, true) }

// Lookup is the reference implementation of the class of lists.Match, except for names
// that say what they are.
func (m Map) Lookup(domain string) (class lists.Class) {
	for name := domain; name != ""; name = Parent(name) {
		e, ok := m[name]
		if !ok || name != domain && !e.Subdomains {
			continue
		}
		class = e.Class
		if class != lists.Unproven {
			break
		}
	}
	return class
}

func (m Map) covering(domain string) (Entry, bool) {
	for parent := Parent(domain); parent != ""; parent = Parent(parent) {
		if e, ok := m[parent]; ok && e.Subdomains {
			return e, true
		}
	}
	return Entry{}, false
}

// Parent returns domain without its first label, or "" if it has only one.
func Parent(domain string) string {
	_, parent, _ := strings.Cut(domain, ".")
	return parent
}

// reserved are top-level domains, and labels below a country's (ac.uk), for institutions.
var reserved = map[string]bool{
	"edu": true, "gov": true, "mil": true, "int": true, "museum": true,
	"ac": true, "sch": true, "school": true, "k12": true, "gob": true,
	"gouv": true, "gub": true, "go": true, "res": true, "nhs": true, "police": true,
}

// Votes are the letters of the published lists that contain a domain.
type Votes string

func readVotes(dir string) (map[string]Votes, error) {
	votes := map[string]Votes{}
	err := eachLine(filepath.Join(dir, "sources", "domains.txt"), func(line string) error {
		name, letters, found := strings.Cut(line, " ")
		if !found {
			return fmt.Errorf("want a domain and letters, got %q", line)
		}
		votes[name] = Votes(letters)
		return nil
	})
	if err != nil {
		return nil, err
	}
	observed, err := ReadObserved(dir)
	if err != nil || len(observed) == 0 {
		return votes, err
	}
	checked, err := ReadChecked(dir)
	if err != nil {
		return nil, err
	}
	votes, _, err = observed.Vote(votes, checked)
	return votes, err
}

func (v Votes) without(letters Votes) Votes {
	for _, letter := range letters {
		v = Votes(strings.ReplaceAll(string(v), string(letter), ""))
	}
	return v
}

// Any reports whether one of letters is among the votes.
func (v Votes) Any(letters string) bool { return strings.ContainsAny(string(v), letters) }

// proven reports whether the domain is on a list that requires proof for each
// entry (D) or on one that crawls the providers (K).
func (v Votes) proven() bool { return v.Any("DK") }

// observed reports whether the domain was seen in real abuse (C). Such a list is made
// from what people typed, so it has misspellings of providers too.
func (v Votes) observed() bool { return v.Any(string(ObservedLetter)) }

// freenom are the top-level domains that Freenom gave away, where 0.1 % of the listed
// names still accept mail.
var freenom = []string{"tk", "ml", "ga", "cf", "gq"}

// agreed reports whether the domain is on two lists that do not copy from each
// other, and on no list of public providers: where F or E has it too, five of
// six such domains in real mail were lasting providers or private. A name that says
// what it is needs no such care.
func (v Votes) agreed(domain string) bool {
	return v.Any("M") && v.Any("IB") && (!v.Any("FE") || namesItself(domain)) &&
		!slices.Contains(freenom, domain[strings.LastIndexByte(domain, '.')+1:])
}

// namesItself reports whether the name that was registered, without what is below it, is
// one of a throw-away service.
func namesItself(domain string) bool {
	registered, err := publicsuffix.EffectiveTLDPlusOne(domain)
	return err == nil && lists.SelfNamed([]byte(registered))
}

// public reports whether the domain is on both lists of public providers and on
// none of D, K and M. Each list alone also has companies, misspellings and new throw-away
// providers.
func (v Votes) public() bool { return v.Any("F") && v.Any("E") && !v.Any("DKM") }

// Useful reports whether a rule can give the domain a class.
func (v Votes) Useful(domain string) bool { return v.proven() || v.agreed(domain) || v.public() }
