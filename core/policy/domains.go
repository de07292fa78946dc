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

// domainTable has the entries of a policy by name. They are sorted by the hash of their
// name, so that a lookup is one comparison for almost every name that has no entry. Names
// with the same hash are sorted too, so a lookup never compares more than a few, even if
// the author of a policy chose names of the same hash.
type domainTable struct {
	text    string // of all names
	names   []domain
	lengths [4]uint64 // set of the lengths of names
	starts  []uint16  // by the first bits of a hash: the index of the first name with them
	shift   uint8     // leaves those bits of a hash
}

// domain is a name with the rules for itself and for what is below it. A list of noList
// means that there is no rule.
type domain struct {
	hash uint64
	domainName
	alone, tree rule
}

var noRule = rule{list: noList}

// newDomainTable returns a table of entries, whose names are in text.
func newDomainTable(text string, entries []entry) domainTable {
	t := domainTable{text: text, names: make([]domain, len(entries))}
	t.sort(entries)
	t.merge()
	t.index()
	return t
}

// sort sets names to those of entries, sorted. It puts each into its part by the first
// bits of its hash, which leaves little to compare: comparing all would take most of the
// time that Parse needs in WebAssembly, where each comparison is two calls.
func (t *domainTable) sort(entries []entry) {
	shift := shiftFor(len(entries))
	ends := make([]uint16, 1<<(64-shift)+1) // of the parts, once all are there
	for _, e := range entries {
		ends[hashOf(e.in(t.text))>>shift+1]++
	}
	for n := range ends[1:] {
		ends[n+1] += ends[n]
	}
	for _, e := range entries {
		d := e.domain(t.text)
		end := &ends[d.hash>>shift]
		t.names[*end] = d
		*end++
	}
	start := uint16(0)
	for _, end := range ends {
		if end > start+1 {
			slices.SortFunc(t.names[start:end], t.compare)
		}
		start = end
	}
}

// shiftFor returns how many bits to shift a hash by for about as many parts as there are names.
func shiftFor(names int) uint8 { return uint8(64 - bits.Len(uint(names))) }

func (e *entry) domain(text string) domain {
	d := domain{hashOf(e.in(text)), e.domainName, noRule, noRule}
	if e.below {
		d.tree = e.rule
	} else {
		d.alone = e.rule
	}
	return d
}

func (t *domainTable) compare(a, b domain) int {
	if a.hash != b.hash { // almost always
		return cmp.Compare(a.hash, b.hash)
	}
	return cmp.Compare(a.in(t.text), b.in(t.text))
}

// merge makes one of the entries for a name, with the rules that win.
func (t *domainTable) merge() {
	kept := t.names[:0]
	for _, d := range t.names {
		if n := len(kept) - 1; n < 0 || t.compare(kept[n], d) != 0 {
			kept = append(kept, d)
			continue
		}
		own := &kept[len(kept)-1]
		own.alone, own.tree = winner(own.alone, d.alone), winner(own.tree, d.tree)
	}
	t.names = kept
}

// winner returns the rule that wins between two for the same entry.
func winner(a, b rule) rule {
	if b.list < a.list || b.list == a.list && b.index < a.index {
		return b
	}
	return a
}

// index sets the lengths, and starts, which has about as many parts as there are names.
func (t *domainTable) index() {
	for _, d := range t.names {
		t.lengths[d.length/64] |= 1 << (d.length % 64)
	}
	t.shift = shiftFor(len(t.names))
	t.starts = make([]uint16, 1<<(64-t.shift)+1)
	n := 0
	for first := range t.starts {
		for n < len(t.names) && t.names[n].hash>>t.shift < uint64(first) {
			n++
		}
		t.starts[first] = uint16(n)
	}
}

// hashOf returns the hash of a name. Multiplying by 2^64 divided by the golden ratio
// spreads what differs to the first bits.
func hashOf[T string | []byte](name T) (hash uint64) {
	const golden = 0x9E3779B97F4A7C15
	hash = uint64(len(name))
	at := 0
	for ; at+8 <= len(name); at += 8 {
		hash = (hash ^ wordAt(name, at)) * golden
		hash ^= hash >> 32
	}
	for ; at < len(name); at++ {
		hash = hash<<8 | hash>>56 ^ uint64(name[at])
	}
	return hash * golden
}

// wordAt returns eight bytes of name. The compiler makes one load of it.
func wordAt[T string | []byte](name T, at int) uint64 {
	s := name[at : at+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// hostMax is the limit on a name with an entry (RFC 1035 section 2.3.4).
const hostMax = 253

// find returns the rule of the most specific entry for host, which is in A-label form. It looks
// for parents of host among the lengths that entries have, which are few.
func (t *domainTable) find(host []byte) rule {
	found := noRule
	if len(host) > hostMax || len(t.names) == 0 {
		return found
	}
	for n, set := range t.lengths {
		for ; set != 0; set &= set - 1 {
			at := len(host) - 64*n - bits.TrailingZeros64(set)
			if at <= 0 {
				break
			}
			if host[at-1] != '.' {
				continue
			}
			if d := t.named(host[at:]); d != nil && d.tree.list != noList {
				found = d.tree
			}
		}
	}
	switch d := t.named(host); {
	case d == nil:
		return found
	case d.alone.list != noList:
		return d.alone
	case d.tree.list != noList:
		return d.tree
	}
	return found
}

func (t *domainTable) hasLength(n int) bool { return t.lengths[n/64]>>(n%64)&1 != 0 }

// named returns the entry for name, or nil.
func (t *domainTable) named(name []byte) *domain {
	if !t.hasLength(len(name)) {
		return nil
	}
	hash := hashOf(name)
	first := hash >> t.shift
	for low, high := int(t.starts[first]), int(t.starts[first+1]); low < high; {
		middle := int(uint(low+high) / 2)
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
