package typo

import (
	"bytes"
	"math/bits"
)

// Index finds the target that a domain misspells. It has the names of the
// targets by length and, for each top-level domain, the names to compare with
// and their sets of letters, so that most domains are rejected by one
// comparison per candidate. It is read-only after New.
type Index struct {
	lines     []byte                  // the targets as given
	targets   []target                // grouped by name
	names     []name                  // by length
	from      [maxCompared + 2]uint16 // from[n] is the first name of n or more bytes
	byTLD     [anyTLD + 1]candidates
	byDotless dotless
	bare      []uint16 // names recognized without an ending
	firsts    [][]byte // first labels of endings, by target.first
	tlds      tldTable // the targets' top-level domains
	root      rootZone
	confusion *confusion
}

// name is the first label of one or more targets.
type name struct {
	tlds        tldSet // top-level domains of its targets
	at          uint16 // offset of its text in lines
	first, last uint16 // its targets; last is exclusive
	size        uint8
	rarity      uint8 // of its most used target
	least       uint8 // least that any of its targets adds to the cost of slips
	stock       uint8 // stock word in its text
}

// target is one provider. Its rarity is the number of bits needed to write how
// many targets are used more.
type target struct {
	at, end        uint16 // its domain in lines
	letters        uint64 // set of the symbols of its ending
	topSet         uint64 // set of the symbols of its top-level domain
	start          uint64 // startOf its ending
	ending         uint8  // length of its ending, at most 255
	dots           uint8  // in its ending
	top            uint8  // length of its top-level domain
	first          uint8  // number of the first label of its ending, or manyFirsts
	name           uint8  // length of the first label
	rarity         uint8  // among all targets
	rarityInEnding uint8  // mean of the rarity among targets with this ending and the name's rarity
	tld            tldID
	grouped        bool // its name is in names; used by New only
}

func (x *Index) text(n *name) []byte     { return x.lines[n.at:][:n.size] }
func (x *Index) domain(t *target) []byte { return x.lines[t.at:t.end] }
func (x *Index) ending(t *target) []byte { return x.domain(t)[t.name+1:] }
func (x *Index) nameOf(t *target) []byte { return x.domain(t)[:t.name] }

func (x *Index) topLevel(t *target) []byte { return x.lines[t.end-uint16(t.top) : t.end] }

// maxLines is how many bytes of targets are read: their offsets are uint16.
const maxLines = 1<<16 - 1

// New returns an index of targets, one domain a line, most used first. tlds is
// the top-level domains of the root zone, one a line in byte order. The index
// points into both.
func New(targets, tlds []byte) *Index {
	targets = targets[:min(len(targets), maxLines)]
	x := &Index{lines: targets, root: newRootZone(tlds), confusion: newConfusion()}
	inOrder := x.parse()
	x.targets = make([]target, 0, len(inOrder))
	x.names = make([]name, 0, len(inOrder))
	for size := range x.from {
		x.from[size] = uint16(len(x.names))
		x.group(inOrder, size)
	}
	for i := range x.names {
		n := &x.names[i]
		n.tlds, n.least = summarize(x.targets[n.first:n.last])
		n.least = min(n.least, n.rarity)
		if n.rarity <= rarestBare {
			x.bare = append(x.bare, uint16(i))
		}
	}
	x.byDotless = x.newDotless()
	for id := range anyTLD {
		x.byTLD[id] = x.newCandidates(1 << id)
	}
	x.byTLD[anyTLD] = x.newCandidates(allTLDs)
	clear(inOrder) // the packed module has its memory after New, garbage too
	return x
}

// summarize returns the top-level domains of a name's targets and the least of
// their rarities.
func summarize(targets []target) (tlds tldSet, least uint8) {
	least = 255
	for _, t := range targets {
		tlds |= 1 << t.tld
		least = min(least, t.rarityInEnding)
	}
	return tlds, least
}

// parse returns the targets in lines, in that order.
func (x *Index) parse() []target {
	all := make([]target, 0, 1+bytes.Count(x.lines, newline))
	for at := 0; at < len(x.lines); {
		line := lineAt(x.lines, at)
		if size := bytes.IndexByte(line, '.'); size > 0 && size <= maxCompared {
			t := target{at: uint16(at), end: uint16(at + len(line)), name: uint8(size), rarity: uint8(bits.Len(uint(len(all))))}
			t.tld = x.tlds.add(lastLabel(line))
			t.letters = symbolSet(x.ending(&t))
			t.ending, t.dots = uint8(min(len(x.ending(&t)), 255)), uint8(bytes.Count(x.ending(&t), dot))
			t.topSet = symbolSet(lastLabel(line))
			t.start = startOf(x.ending(&t))
			t.top = uint8(min(len(lastLabel(line)), 255))
			t.first = x.numberFirst(x.ending(&t))
			t.rarityInEnding = uint8(bits.Len(uint(x.countEnding(all, &t))))
			all = append(all, t)
		}
		at += len(line) + 1
	}
	return all
}

// manyFirsts is the number of all first labels for which there is no other.
const manyFirsts = 15

// numberFirst returns the number of the first label of ending.
func (x *Index) numberFirst(ending []byte) uint8 {
	first, _, _ := bytes.Cut(ending, dot)
	for i, other := range x.firsts {
		if bytes.Equal(other, first) {
			return uint8(i)
		}
	}
	if len(first) == len(ending) || len(x.firsts) == manyFirsts {
		return manyFirsts
	}
	x.firsts = append(x.firsts, first)
	return uint8(len(x.firsts) - 1)
}

// countEnding counts the targets of all that have the ending of t.
func (x *Index) countEnding(all []target, t *target) (count int) {
	for i := range all {
		if bytes.Equal(x.ending(&all[i]), x.ending(t)) {
			count++
		}
	}
	return count
}

// group adds the names of the given length, each with its targets.
func (x *Index) group(inOrder []target, size int) {
	for i, t := range inOrder {
		if int(t.name) != size || t.grouped {
			continue
		}
		text := x.nameOf(&t)
		n := name{at: t.at, first: uint16(len(x.targets)), size: t.name, rarity: t.rarity}
		n.stock, _ = stockWordIn(text, symbolSet(text))
		for j := i; j < len(inOrder); j++ {
			if other := &inOrder[j]; int(other.name) == size && bytes.Equal(x.nameOf(other), text) {
				other.grouped = true
				other.rarityInEnding = (other.rarityInEnding + n.rarity) / 2
				x.targets = append(x.targets, *other)
			}
		}
		n.last = uint16(len(x.targets))
		x.names = append(x.names, n)
	}
}

// ofLength returns the range of names of size bytes.
func (x *Index) ofLength(size int) (first, last int) {
	if size > maxCompared {
		return 0, 0
	}
	return int(x.from[size]), int(x.from[size+1])
}

var newline = []byte{'\n'}

// lineAt returns the line of lines that starts at offset at.
func lineAt(lines []byte, at int) []byte {
	line, _, _ := bytes.Cut(lines[at:], newline)
	return line
}

// candidates are the names that a domain under one top-level domain is compared
// with: those that have a target under it. The list at anyTLD has every name.
type candidates struct {
	list []candidate             // by length
	from [maxCompared + 2]uint16 // from[n] is the first candidate of n or more bytes
}

const anyTLD = int(otherTLD) + 1

// candidate is a name and the set of its symbols. The set rejects most
// candidates before either name is read.
type candidate struct {
	letters uint64
	name    uint16
	size    uint8 // as in name
	least   uint8 // as in name
}

// newCandidates returns the names that have a target under one of tlds. It
// counts them first: the memory that a growing slice abandons would be shipped
// with the module.
func (x *Index) newCandidates(tlds tldSet) (c candidates) {
	c.list = make([]candidate, 0, x.countUnder(tlds))
	for size := range c.from {
		c.from[size] = uint16(len(c.list))
		first, last := x.ofLength(size)
		for i := first; i < last; i++ {
			if n := &x.names[i]; n.tlds&tlds != 0 {
				c.list = append(c.list, candidate{symbolSet(x.text(n)), uint16(i), n.size, n.least})
			}
		}
	}
	return c
}

func (x *Index) countUnder(tlds tldSet) (count int) {
	for i := range x.names {
		if x.names[i].tlds&tlds != 0 {
			count++
		}
	}
	return count
}

// candidatesFor returns the names that d may be meant for by its top-level
// domain and its length, which may differ by as many bytes as given.
func (x *Index) candidatesFor(d *typedDomain, difference int) []candidate {
	size := len(d.name)
	if size-difference > maxCompared {
		return nil
	}
	c := &x.byTLD[anyTLD]
	if d.meant&(d.meant-1) == 0 { // a single one
		c = &x.byTLD[bits.TrailingZeros64(uint64(d.meant))&63]
	}
	return c.list[c.from[size-difference]:c.from[min(size+difference, maxCompared)+1]]
}

// dotless finds the targets that have the letters of a domain in the same
// order, without dots and hyphens. It is a hash table with linear probing.
type dotless struct {
	slots   []uint16 // index in targets plus 1, or 0; a power of two, at least half free
	longest int      // length of the longest target
}

func (x *Index) newDotless() dotless {
	d := dotless{slots: make([]uint16, 1<<bits.Len(uint(2*len(x.targets))))}
	for i := range x.targets {
		domain := x.domain(&x.targets[i])
		d.longest = max(d.longest, len(domain))
		at := d.slot(domain)
		for d.slots[at] != 0 {
			at = d.after(at)
		}
		d.slots[at] = uint16(i + 1)
	}
	return d
}

// slot returns where the targets with the letters of domain begin.
func (d *dotless) slot(domain []byte) int {
	const offset, prime = 2166136261, 16777619 // FNV-1a
	hash := uint32(offset)
	for _, b := range domain {
		if b != '.' && b != '-' {
			hash = (hash ^ uint32(b)) * prime
		}
	}
	return int(hash^hash>>16) & (len(d.slots) - 1)
}

func (d *dotless) after(slot int) int { return (slot + 1) & (len(d.slots) - 1) }

// byLetters offers the targets that differ from d only by a dot left out or
// misplaced.
func (x *Index) byLetters(best *suggestion, d *typedDomain) {
	t := &x.byDotless
	if len(d.text) > t.longest { // a target never has fewer dots and hyphens than d
		return
	}
	for at := t.slot(d.text); t.slots[at] != 0; at = t.after(at) {
		meant := &x.targets[t.slots[at]-1]
		if meant.tld.in(d.meant) && equalButDots(d.text, x.domain(meant)) {
			best.offer(*meant, costMisplacedDot+int(meant.rarity))
		}
	}
}

// equalButDots reports whether a and b are equal without their dots. A dot of a
// may replace a hyphen of b; otherwise a must not have more dots than b.
func equalButDots(a, b []byte) bool {
	i, j, dots := 0, 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == '.' && b[j] == '-':
			i, j = i+1, j+1
		case i < len(a) && a[i] == '.':
			i, dots = i+1, dots+1
		case j < len(b) && b[j] == '.':
			j, dots = j+1, dots-1
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		default:
			return false
		}
	}
	return dots <= 0
}
