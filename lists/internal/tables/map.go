// Package tables reads the readable tables under lists/ and merges them into
// one verdict a domain. The packer encodes that verdict; the tests hold the
// packed blob against it.
package tables

import "github.com/addrspec/addrspec/lists"

// Entry is what is known about one name.
type Entry struct {
	Class lists.Class
	Below bool // the entry covers every name below it too
}

// Map holds one Entry a domain, lower case and in A-label form.
type Map map[string]Entry

// Lookup is the definition of lists.Provider, told the plain way: the name
// itself, then each parent whose entry covers the names below it.
func (m Map) Lookup(domain string) lists.Class {
	if e, ok := m[domain]; ok {
		return e.Class
	}
	for parent := Parent(domain); parent != ""; parent = Parent(parent) {
		if e, ok := m[parent]; ok && e.Below {
			return e.Class
		}
	}
	return 0
}

// covering returns the nearest parent of domain whose entry covers it.
func (m Map) covering(domain string) (Entry, bool) {
	for parent := Parent(domain); parent != ""; parent = Parent(parent) {
		if e, ok := m[parent]; ok && e.Below {
			return e, true
		}
	}
	return Entry{}, false
}

// Parent cuts the first label off domain; "" when only one label is left.
func Parent(domain string) string {
	for i := range domain {
		if domain[i] == '.' {
			return domain[i+1:]
		}
	}
	return ""
}
