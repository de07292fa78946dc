package policy

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/core/internal/ascii"
)

// name is the place in nameTable.text of a domain or an exchange in A-label form, or of an
// address.
type name struct {
	at     uint32
	length uint8
}

func (n name) in(text string) string { return text[n.at : n.at+uint32(n.length)] }

// entry is a domain, an address or an exchange of a document.
type entry struct {
	name
	below bool // it covers the names below it too
	rule  rule
}

// entries are what newNameTable makes a table of.
type entries struct {
	text []byte // of all names
	list []entry
}

func (e *entries) add(text []byte, below bool, rule rule) {
	e.list = append(e.list, entry{name{uint32(len(e.text)), uint8(len(text))}, below, rule})
	e.text = append(e.text, text...)
}

// nameTable has the entries of a policy by name, sorted by the hash of the name, so that a
// lookup compares words. Names with the same hash are sorted too: a lookup never compares more
// than a few, even if the author of a policy chose names of the same hash. A map would: the
// module has no random numbers, so its hashes can be foreseen.
type nameTable struct {
	text    string // of all names
	names   []namedRules
	lengths [4]uint64 // set of the lengths of names
}

// namedRules is a name with the rules for itself and for what is below it. A list of noList
// means that there is no rule.
type namedRules struct {
	hash uint64
	name
	alone, tree rule
}

var noRule = rule{list: noList}

const indexMask = 1<<14 - 1 // has the index of each of MaxEntries

func newNameTable(text string, entries []entry) nameTable {
	t := nameTable{text: text, names: make([]namedRules, len(entries))}
	// Sorting words first leaves little to compare: comparing names takes most of the time of
	// Parse in WebAssembly, where each comparison is two calls.
	keys := make([]uint64, len(entries))
	for i, e := range entries {
		keys[i] = hashOf(e.in(text))&^indexMask | uint64(i)
	}
	slices.Sort(keys)
	for i, key := range keys {
		e := entries[key&indexMask]
		d := namedRules{hashOf(e.in(text)), e.name, noRule, noRule}
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

// newMailboxTable returns the table of normalized addresses by the identity of their mailboxes,
// which follows them in the text where it differs.
func newMailboxTable(addresses string, list []entry, c *core.Checker) nameTable {
	list = slices.Clone(list)
	var normalized, others []byte
	for n := range list {
		own := &list[n].name
		normalized = append(normalized[:0], own.in(addresses)...)
		c.Normalize(normalized) // it is valid
		at := len(others)
		others = c.AppendCanonical(others)
		if bytes.Equal(others[at:], normalized) {
			others = others[:at]
		} else {
			*own = name{uint32(len(addresses) + at), uint8(len(others) - at)}
		}
	}
	return newNameTable(addresses+string(others), list)
}

func (t *nameTable) compare(a, b namedRules) int {
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

// find returns the rule of the most specific entry for host, which is in A-label form, and how
// specific that is: for *.x the length of x, for x alone more than for any *.x, and 0 if
// there is none. It looks for parents of host among the lengths that entries have, which are few.
func (t *nameTable) find(host []byte) (found rule, specific int) {
	found = noRule
	if len(host) > hostMax {
		return found, 0
	}
	for n := range len(host)/64 + 1 { // no name that is longer matters
		for set := t.lengths[n]; set != 0; set &= set - 1 {
			length := 64*n + bits.TrailingZeros64(set)
			at := len(host) - length
			if at < 0 {
				break
			}
			if at > 0 && host[at-1] != '.' {
				continue
			}
			d := t.named(host[at:])
			if d != nil && d.tree.list != noList {
				found, specific = d.tree, length
			}
			if d != nil && at == 0 && d.alone.list != noList {
				found, specific = d.alone, hostMax+length
			}
		}
	}
	return found, specific
}

// findEach returns the rule of the most specific entry for any of the exchanges, and how specific
// that is, if each of them has an entry. "*", which stands for further exchanges, has none. A name
// may be as a resolver gives it, in upper case and with a final dot: a block must not depend on that.
func (t *nameTable) findEach(exchanges [][]byte) (found rule, specific int) {
	found = noRule
	var buffer [hostMax + 1]byte
	for _, exchange := range exchanges {
		if len(exchange) > len(buffer) {
			return noRule, 0
		}
		name := ascii.AppendLower(buffer[:0], exchange)
		rule, n := t.find(bytes.TrimSuffix(name, []byte{'.'}))
		switch {
		case n == 0:
			return noRule, 0
		case n > specific:
			found, specific = rule, n
		case n == specific:
			found = winner(found, rule)
		}
	}
	return found, specific
}

func (t *nameTable) named(name []byte) *namedRules {
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
