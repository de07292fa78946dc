// Package tables reads the text tables in lists/ and merges them into one entry
// per domain. The packer encodes the merged entries; tests compare the packed
// blob with them.
package tables

import (
	"strings"

	"github.com/addrspec/addrspec/lists"
)

// Entry is the merged entry of one domain.
type Entry struct {
	Class      lists.Class
	Subdomains bool // the entry covers every name below its own too
}

// Map has the entries by domain, lower case and in A-label form.
type Map map[string]Entry

// Lookup is the reference implementation of lists.Provider: it returns the
// class of domain's own entry, else of its nearest parent whose entry covers
// subdomains, else 0.
func (m Map) Lookup(domain string) lists.Class {
	if e, ok := m[domain]; ok {
		return e.Class
	}
	e, _ := m.covering(domain)
	return e.Class
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
