package policy

import (
	"cmp"
	"math/bits"
	"slices"
)

// domainName is the place of a name in A-label form in domainTable.text.
type domainName struct {
	at     uint32
	length uint8
}

func (n domainName) in(text string) string { return text[n.at : n.at+uint32(n.length)] }

// entry is a domain of a document.
type entry struct {
	domainName
	below bool // it covers the names below it too
	rule  rule
}

// domainTable has the entries of a policy by name, sorted by the hash of the name, so that a
// lookup compares words. Names with the same hash are sorted too: a lookup never compares more
// than a few, even if the author of a policy chose names of the same hash. A map would: the
// module has no random numbers, so its hashes can be foreseen.
type domainTable struct {
	text    string // of all names
	names   []domain
	lengths [4]uint64 // set of the lengths of names
}

// domain is a name with the rules for itself and for what is below it. A list of noList
// means that there is no rule.
type domain struct {
	hash uint64
	domainName
	alone, tree rule
}

var noRule = rule{list: noList}

const indexMask = 1<<14 - 1 // has the index of each of MaxDomains

func newDomainTable(text string, entries []entry) domainTable {
	t := domainTable{text: text, names: make([]domain, len(entries))}
	// Sorting words first leaves little to compare: comparing names takes most of the time of
	// Parse in WebAssembly, where each comparison is two calls.
	keys := make([]uint64, len(entries))
	for i, e := range entries {
		keys[i] = hashOf(e.in(text))&^indexMask | uint64(i)
	}
	slices.Sort(keys)
	for i, key := range keys {
		e := entries[key&indexMask]
		d := domain{hashOf(e.in(text)), e.domainName, noRule, noRule}
		if e.below {
			d.tree = e.rule
		} else {
			d.alone = e.rule
		}
		t.names[i] = d
		t.lengths[e.length/64] |= 1 << (e.length % 64)
	}
	slices.SortFunc(t.names, t.compare)
	kept := t.names[:0] // one of the entries for a name, with the rules that win
	for _, d := range t.names {
		if n := len(kept) - 1; n >= 0 && t.compare(kept[n], d) == 0 {
			kept[n].alone, kept[n].tree = winner(kept[n].alone, d.alone), winner(kept[n].tree, d.tree)
		} else {
			kept = append(kept, d)
		}
	}
	t.names = kept
	return t
}

func (t *domainTable) compare(a, b domain) int {
	if a.hash != b.hash { // almost always
		return cmp.Compare(a.hash, b.hash)
	}
	return cmp.Compare(a.in(t.text), b.in(t.text))
}

func winner(a, b rule) rule {
	if b.list < a.list || b.list == a.list && b.index < a.index {
		return b
	}
	return a
}

// hashOf returns the hash of a name. Multiplying by 2^64 divided by the golden ratio
// spreads what differs to the first bits.
func hashOf[T string | []byte](name T) (hash uint64) {
	const golden = 0x9E3779B97F4A7C15
	hash = uint64(len(name))
	at := 0
	for ; at+8 <= len(name); at += 8 {
		s := name[at : at+8] // of which the compiler makes one load
		word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		hash = (hash ^ word) * golden
		hash ^= hash >> 32
	}
	for ; at < len(name); at++ {
		hash = hash<<8 | hash>>56 ^ uint64(name[at])
	}
	return hash * golden
}

// hostMax is the limit on a name with an entry (RFC 1035 section 2.3.4).
const hostMax = 253

// find returns the rule of the most specific entry for host, which is in A-label form. It looks
// for parents of host among the lengths that entries have, which are few.
func (t *domainTable) find(host []byte) rule {
	found := noRule
	if len(host) > hostMax {
		return found
	}
	for n, set := range t.lengths {
		for ; set != 0; set &= set - 1 {
			at := len(host) - 64*n - bits.TrailingZeros64(set)
			if at < 0 {
				break
			}
			if at > 0 && host[at-1] != '.' {
				continue
			}
			d := t.named(host[at:])
			if d != nil && d.tree.list != noList {
				found = d.tree
			}
			if d != nil && at == 0 && d.alone.list != noList {
				found = d.alone
			}
		}
	}
	return found
}

func (t *domainTable) named(name []byte) *domain {
	hash := hashOf(name)
	low, high := 0, len(t.names)
	for low < high {
		middle := (low + high) / 2
		d := &t.names[middle]
		switch {
		case d.hash == hash && d.in(t.text) == string(name):
			return d
		case d.hash < hash || d.hash == hash && d.in(t.text) < string(name):
			low = middle + 1
		default:
			high = middle
		}
	}
	return nil
}
