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

// Merge reads the tables in dir and returns one entry per domain. Precedence: the
// first five hand-written tables, of which a name can be in one only; the
// published lists, unless a relay or no-reply host covers the name; domains in use.
// lists/README.md has the rule.
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
	if err := m.addEndings(dir); err != nil {
		return nil, err
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
		case TooWide(r.name, covers):
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

// addEndings adds the top-level domains that throw-away services prefer.
func (m Map) addEndings(dir string) error {
	endings, err := readEndings(dir)
	for _, ending := range endings {
		m[ending] = Entry{lists.Unproven, true}
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
	for _, name := range c.lent {
		m[name] = Entry{lists.Disposable, true}
	}
	byHand := maps.Clone(m)
	for name, v := range votes {
		if byHand.decides(name) || c.excludes(name) || isPublicSuffix(name) {
			continue
		}
		v = v.without(c.withdrawn[name])
		agreed := v.agreed(name) && !c.misspelled(name) && !c.borrowed(name)
		switch {
		case v.proven(), v.observed() && !c.misspelled(name), agreed && namesItself(name):
			m[name] = Entry{lists.Disposable, true}
		case agreed:
			m[name] = Entry{lists.Unproven, true}
		case v.public() && !isInstitution(name):
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

// dropRedundant deletes the entries that the entry of a parent implies. An unproven one
// hides no parent's.
func (m Map) dropRedundant() {
	for name, e := range maps.Clone(m) {
		if parent, covered := m.covering(name); covered && (parent == (Entry{e.Class, true}) || e.Class == lists.Unproven) {
			delete(m, name)
		}
	}
}

// TooWide reports whether an entry of name would classify the domains of everybody who
// registers below it.
func TooWide(name string, covers bool) bool {
	return isPublicSuffix(name) && (covers || isRegistrySuffix(name))
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

// corrections are the hand-written exceptions to the rule for the rows of the
// published lists.
type corrections struct {
	ignored   map[string]bool     // names with rows that do not count: ignore.txt
	shared    map[string]bool     // names below which everybody's are: shared.txt
	lenders   map[string]bool     // domains of which some names below are lent: lent.txt
	lent      []string            // those names
	withdrawn map[string]Votes    // votes that do not count: withdrawn.txt
	targets   map[string][]string // first labels of typo targets, by the rest of the target
	labels    map[string]bool     // the same labels
}

func readCorrections(dir string) (c corrections, err error) {
	if c.ignored, err = readNames(dir, "ignore.txt"); err != nil {
		return c, err
	}
	if c.shared, err = readNames(dir, "shared.txt"); err != nil {
		return c, err
	}
	if c.lenders, c.lent, err = readLent(dir); err != nil {
		return c, err
	}
	if c.withdrawn, err = readWithdrawn(dir); err != nil {
		return c, err
	}
	rows, err := readTable(dir, "typo-targets.txt")
	c.targets, c.labels = map[string][]string{}, map[string]bool{}
	for _, r := range rows {
		if label := firstLabel(r.name); len(label) >= 3 {
			rest := r.name[len(label):]
			c.targets[rest] = append(c.targets[rest], label)
			c.labels[label] = true
		}
	}
	return c, err
}

// excludes reports whether the rows of name do not count, not even those with proof: it is
// in ignore.txt or shared.txt, or it belongs to somebody who lends other names below it.
func (c corrections) excludes(name string) bool {
	if c.ignored[name] || c.shared[name] || c.lenders[name] {
		return true
	}
	for parent := Parent(name); parent != ""; parent = Parent(parent) {
		if c.lenders[parent] {
			return !c.shared[parent]
		}
	}
	return false
}

// misspelled reports whether name is one edit away from a typo target. Lists
// built from bounced mail contain many such names; no throw-away provider uses
// one.
func (c corrections) misspelled(name string) bool {
	label := firstLabel(name)
	for _, target := range c.targets[name[len(label):]] {
		if oneEdit(label, target) {
			return true
		}
	}
	return false
}

// borrowed reports whether name is a provider's name under another ending
// (gmail.net), or has one more ending (gmail.com.co). Such names are misspelled,
// or belong to somebody else; a throw-away provider gains nothing by one.
func (c corrections) borrowed(name string) bool {
	label := firstLabel(name)
	if c.labels[label] && isPublicSuffix(name[len(label)+1:]) {
		return true
	}
	shorter := name[:strings.LastIndexByte(name, '.')]
	label = firstLabel(shorter)
	return slices.Contains(c.targets[shorter[len(label):]], label)
}

// oneEdit reports whether a and b differ by one insertion, deletion,
// substitution or transposition of adjacent letters.
func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i == len(a) {
		return false
	}
	transposed := i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	return a[i+1:] == b[i+1:] || transposed
}

func firstLabel(domain string) string {
	label, _, _ := strings.Cut(domain, ".")
	return label
}

// readNames reads the names of a table of domains as a set.
func readNames(dir, file string) (map[string]bool, error) {
	rows, err := readTable(dir, file)
	names := make(map[string]bool, len(rows))
	for _, r := range rows {
		names[r.name] = true
	}
	return names, err
}

// isInstitution reports whether name is below a suffix reserved for
// institutions: schools, governments, armies and the like. Lists of public
// providers contain some such names, but not everybody can open a mailbox there.
func isInstitution(name string) bool {
	labels := strings.Split(name, ".")
	last := labels[len(labels)-1]
	if reserved[last] {
		return true
	}
	return len(last) == 2 && len(labels) > 2 && reserved[labels[len(labels)-2]]
}

// reserved are top-level domains, and second-level labels below a country's
// (ac.uk), that only institutions can use.
var reserved = map[string]bool{
	"edu": true, "gov": true, "mil": true, "int": true, "museum": true,
	"ac": true, "sch": true, "school": true, "k12": true, "gob": true,
	"gouv": true, "gub": true, "go": true, "res": true, "nhs": true, "police": true,
}

// Votes are the published lists that contain a domain, by their letters in
// sources/provenance.txt.
type Votes string

// without returns the votes of other lists than those of letters.
func (v Votes) without(letters Votes) Votes {
	return Votes(strings.Map(func(r rune) rune {
		if strings.ContainsRune(string(letters), r) {
			return -1
		}
		return r
	}, string(v)))
}

// Any reports whether one of letters is among the votes.
func (v Votes) Any(letters string) bool { return strings.ContainsAny(string(v), letters) }

// proven reports whether the domain is on a list that requires proof for each
// entry (D) or on one that crawls the providers (K). One of them is enough.
func (v Votes) proven() bool { return v.Any("DK") }

// observed reports whether the domain was seen in real abuse (C). Such a list is made
// from what people typed, so it has misspellings of providers too.
func (v Votes) observed() bool { return v.Any(string(ObservedLetter)) }

// agreed reports whether the domain is on two lists that do not copy from each
// other, and on no list of public providers: where F or E has it too, five of
// six such domains in real mail were lasting providers or private. A name that says
// what it is needs no such care. It returns false below the free Freenom top-level
// domains, where 0.1 % of the listed names still accept mail.
func (v Votes) agreed(domain string) bool {
	return v.Any("M") && v.Any("IB") && (!v.Any("FE") || namesItself(domain)) && !isFreenom(domain)
}

// namesItself reports whether the name that was registered, without what is below it, is
// one of a throw-away service.
func namesItself(domain string) bool {
	registered, err := publicsuffix.EffectiveTLDPlusOne(domain)
	return err == nil && lists.SelfNamed([]byte(registered))
}

// public reports whether the domain is on both lists of public providers and on
// none of D, K and M. Each list alone also contains companies, misspellings and
// new throw-away providers.
func (v Votes) public() bool { return v.Any("F") && v.Any("E") && !v.Any("DKM") }

// Useful reports whether a rule can give the domain a class.
func (v Votes) Useful(domain string) bool { return v.proven() || v.agreed(domain) || v.public() }

// isFreenom reports whether domain is below a top-level domain that Freenom
// gave away.
func isFreenom(domain string) bool {
	switch domain[strings.LastIndexByte(domain, '.')+1:] {
	case "tk", "ml", "ga", "cf", "gq":
		return true
	}
	return false
}

// readVotes reads sources/domains.txt and observed.txt.
func readVotes(dir string) (map[string]Votes, error) {
	votes, err := readDomains(dir)
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

// readDomains reads sources/domains.txt.
func readDomains(dir string) (map[string]Votes, error) {
	votes := map[string]Votes{}
	err := eachLine(filepath.Join(dir, "sources", "domains.txt"), func(line string) error {
		name, letters, found := strings.Cut(line, " ")
		if !found {
			return fmt.Errorf("want a domain and letters, got %q", line)
		}
		votes[name] = Votes(letters)
		return nil
	})
	return votes, err
}

// Entry is the merged entry of one domain.
type Entry struct {
	Class      lists.Class
	Subdomains bool // the entry covers every name below its own too
}

// Map has the entries by domain, lower case and in A-label form.
type Map map[string]Entry

// Lookup is the reference implementation of the class of lists.Match, except for names
// that say what they are: that of domain's own entry, else of its nearest parent whose entry
// covers subdomains; Unproven if all of these are; 0 if there is none.
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

// covering returns the entry of the nearest parent of domain that covers it,
// and whether there is one.
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
