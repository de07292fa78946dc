package typo

import (
	"bytes"
	"math/bits"
	"slices"
)

// Index finds the target that a domain misspells. It has the names of the
// targets by length and, for each top-level domain, the names to compare with
// and their sets of letters, so that most domains are rejected by one
// comparison per candidate. It is read-only after New.
type Index struct {
	lines   []byte                  // the targets as given
	targets []target                // grouped by name
	names   []name                  // by length
	from    [maxCompared + 2]uint16 // from[n] is the first name of n or more bytes
	endings []ending
	byTLD   [anyTLD + 1]candidates
	dotless []uint16 // hash table of targets by their letters: the index plus 1, or 0; at least half is free
	bare    []uint16 // names recognized without an ending
	tlds    []uint64 // the targets' top-level domains, packed and sorted
	root    rootZone
}

// name is the first label of one or more targets.
type name struct {
	tlds        tldSet // top-level domains of its targets
	at          uint16 // offset of its text in lines
	first, last uint16 // its targets, by rank; last is exclusive
	size        uint8
	rarity      uint8 // of its most used target
	least       uint8 // least that any of its targets adds to the cost of slips
	stock       uint8 // stock word in its text
}

// lastWithSlip is last if there are slips in the name and in the top-level domain.
func (n *name) lastWithSlip() uint16 { return min(n.last, n.first+6) }

// target is one provider. Its rarity is the number of bits needed to write how
// many targets are used more.
type target struct {
	at, end        uint16 // its domain in lines
	size           uint8  // of its name
	rarity         uint8  // among all targets
	rarityInEnding uint8  // mean of the rarity among targets with this ending and the name's rarity
	ending         uint8  // index in endings
	tld            tldID
	grouped        bool // its name is in names; used by New only
}

// ending is what follows the name of one or more targets.
type ending struct {
	text, topLevel           []byte
	letters, topLevelLetters uint64 // sets of the symbols, without the dot
	dots                     int
	targets                  uint16
}

// topBudget bounds slips in the top-level domain: two would leave nothing of two letters.
func (e *ending) topBudget() int {
	if len(e.topLevel) <= 2 {
		return costExchange
	}
	return endingBudget * 3 / 2
}

// maxEndings is how many endings are read, and maxLines how many bytes of targets: their
// offsets are uint16.
const (
	maxEndings = 128
	maxLines   = 1<<16 - 1
)

func (x *Index) text(n *name) []byte     { return x.lines[n.at:][:n.size] }
func (x *Index) domain(t *target) []byte { return x.lines[t.at:t.end] }
func (x *Index) nameOf(t *target) []byte { return x.lines[t.at:][:t.size] }

// New returns an index of targets, one domain a line, most used first. tlds is
// the top-level domains of the root zone, one a line in byte order. The index
// points into both.
func New(targets, tlds []byte) *Index {
	targets = targets[:min(len(targets), maxLines)]
	x := &Index{lines: targets, root: newRootZone(tlds)}
	x.endings = make([]ending, 0, maxEndings)
	x.tlds = make([]uint64, 0, otherTLD)
	inOrder := x.parse()
	x.targets = make([]target, 0, len(inOrder))
	x.names = make([]name, 0, len(inOrder))
	for size := range x.from {
		x.from[size] = uint16(len(x.names))
		for i := range inOrder {
			if int(inOrder[i].size) == size && !inOrder[i].grouped {
				x.group(inOrder[i:])
			}
		}
	}
	clear(inOrder) // the packed module has its memory after New, garbage too
	x.fillCandidates()
	x.dotless = make([]uint16, 1<<bits.Len(uint(2*len(x.targets))))
	for i := range x.targets {
		at := x.slotOf(x.domain(&x.targets[i]))
		for x.dotless[at] != 0 {
			at = (at + 1) % len(x.dotless)
		}
		x.dotless[at] = uint16(i + 1)
	}
	return x
}

func (x *Index) parse() []target {
	all := make([]target, 0, 1+bytes.Count(x.lines, newline))
	for at := 0; at < len(x.lines); {
		line := lineAt(x.lines, at)
		name, text, _ := bytes.Cut(line, dot)
		number := slices.IndexFunc(x.endings, func(e ending) bool { return bytes.Equal(e.text, text) })
		if number < 0 && len(text) > 0 && len(x.endings) < maxEndings {
			number = len(x.endings)
			top := lastLabel(text)
			x.endings = append(x.endings, ending{text: text, topLevel: top, letters: symbolSet(text) &^ dotSymbol,
				topLevelLetters: symbolSet(top), dots: bytes.Count(text, dot)})
			packed := pack(top)
			if i, found := x.indexTLD(packed); !found && packed != 0 && len(x.tlds) < int(otherTLD) {
				x.tlds = append(x.tlds, 0)
				copy(x.tlds[i+1:], x.tlds[i:])
				x.tlds[i] = packed
			}
		}
		if size := len(name); number >= 0 && size > 0 && size <= maxCompared {
			e := &x.endings[number]
			all = append(all, target{
				at: uint16(at), end: uint16(at + len(line)), size: uint8(size), ending: uint8(number),
				rarity: uint8(bits.Len(uint(len(all)))), rarityInEnding: uint8(bits.Len16(e.targets)),
			})
			e.targets++
		}
		at += len(line) + 1
	}
	for i := range all {
		all[i].tld = min(tldID(bits.TrailingZeros64(uint64(x.setOf(x.endings[all[i].ending].topLevel)))), otherTLD)
	}
	return all
}

func (x *Index) group(targets []target) {
	t := &targets[0]
	text := x.nameOf(t)
	n := name{at: t.at, first: uint16(len(x.targets)), size: t.size, rarity: t.rarity, least: t.rarity}
	n.stock, _ = stockWordIn(text, symbolSet(text))
	for i := range targets {
		if t := &targets[i]; t.size == n.size && bytes.Equal(x.nameOf(t), text) {
			t.grouped = true
			t.rarityInEnding = (t.rarityInEnding + n.rarity) / 2
			x.targets = append(x.targets, *t)
			n.tlds |= 1 << t.tld
			n.least = min(n.least, t.rarityInEnding)
		}
	}
	n.last = uint16(len(x.targets))
	if n.rarity <= rarestBare {
		x.bare = append(x.bare, uint16(len(x.names)))
	}
	x.names = append(x.names, n)
}

func (x *Index) ofLength(size int) (first, last int) {
	if size > maxCompared {
		return 0, 0
	}
	return int(x.from[size]), int(x.from[size+1])
}

var newline = []byte{'\n'}

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

// candidate is a name with the set of its symbols, which rejects most candidates.
type candidate struct {
	letters uint64
	name    uint16
	size    uint8 // as in name
	least   uint8 // as in name
}

// fillCandidates makes one slice for all lists: the memory that a growing slice abandons
// would be shipped with the module.
func (x *Index) fillCandidates() {
	count := len(x.names)
	for i := range x.names {
		count += bits.OnesCount64(uint64(x.names[i].tlds))
	}
	all := make([]candidate, 0, count)
	for id := range x.byTLD {
		tlds := allTLDs
		if id != anyTLD {
			tlds = 1 << id
		}
		c, start := &x.byTLD[id], len(all)
		for size := range c.from {
			c.from[size] = uint16(len(all) - start)
			first, last := x.ofLength(size)
			for i := first; i < last; i++ {
				if n := &x.names[i]; n.tlds&tlds != 0 {
					all = append(all, candidate{symbolSet(x.text(n)), uint16(i), n.size, n.least})
				}
			}
		}
		c.list = all[start:]
	}
}

func (x *Index) candidates(d *typedDomain, shortest, longest int) []candidate {
	if shortest > maxCompared {
		return nil
	}
	c := &x.byTLD[anyTLD]
	if d.meant&(d.meant-1) == 0 { // a single one
		c = &x.byTLD[bits.TrailingZeros64(uint64(d.meant))&63]
	}
	return c.list[c.from[shortest]:c.from[min(longest, maxCompared)+1]]
}
