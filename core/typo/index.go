package typo

import (
	"bytes"
	"math/bits"
)

// Index holds the targets: names apart from endings, ordered by length, and in
// sieves, each with the set of its letters, so that a domain that misspells
// none is told from all of them by one word compared per name that it could be
// meant for. It is read-only once made.
type Index struct {
	lines   []byte                  // the targets as given
	targets []target                // grouped by name
	names   []name                  // by length
	sieves  [everyTop + 1]sieve     // by place
	tops    topTable                // the targets' top-level domains
	from    [maxCompared + 2]uint16 // from[n] is the first name of n or more bytes
	root    topLevels
	keys    *keyboard
}

// name is the first label of some targets.
type name struct {
	under       topSet // the top-level domains of its targets
	at          uint16 // where its text stands in lines
	first, last uint16 // its targets
	size        uint8
	rarity      uint8 // of its most used target
	least       uint8 // least rarityInEnding of its targets
	stock       uint8 // the stock word in its text
}

// target is one provider. Its rarity is the bits it takes to write how many
// targets are used more.
type target struct {
	at, end        uint16 // its domain in lines
	name           uint8  // how long the first label is
	rarity         uint8  // among all targets
	rarityInEnding uint8  // among those with the same ending
	top            place
	grouped        bool // while the index is made: its name is in names
}

func (x *Index) text(n *name) []byte    { return x.lines[n.at:][:n.size] }
func (x *Index) domain(t target) []byte { return x.lines[t.at:t.end] }
func (x *Index) ending(t target) []byte { return x.domain(t)[t.name+1:] }
func (x *Index) nameOf(t target) []byte { return x.domain(t)[:t.name] }

// maxLines bounds the octets of targets that are read: places fit 16 bits.
const maxLines = 1<<16 - 1

// New indexes targets, one domain a line and most used first, and the
// top-level domains of the root zone, one a line in byte order. The index
// points into both.
func New(targets, tops []byte) *Index {
	targets = targets[:min(len(targets), maxLines)]
	x := &Index{lines: targets, root: newTopLevels(tops), keys: newKeyboard()}
	inOrder := x.parse()
	x.targets = make([]target, 0, len(inOrder))
	x.names = make([]name, 0, len(inOrder))
	for size := range x.from {
		x.from[size] = uint16(len(x.names))
		x.group(inOrder, size)
	}
	for i := range x.names {
		n := &x.names[i]
		n.under, n.least = x.survey(x.targets[n.first:n.last])
	}
	for p := range everyTop {
		x.sieves[p] = x.newSieve(1 << p)
	}
	x.sieves[everyTop] = x.newSieve(allTops)
	return x
}

// survey returns the top-level domains of a name's targets and the least of
// their rarities.
func (x *Index) survey(targets []target) (under topSet, least uint8) {
	least = 255
	for _, t := range targets {
		under |= 1 << t.top
		least = min(least, t.rarityInEnding)
	}
	return under, least
}

// parse finds the targets in lines, in their order.
func (x *Index) parse() []target {
	all := make([]target, 0, 1+bytes.Count(x.lines, newline))
	for at := 0; at < len(x.lines); {
		line := lineAt(x.lines, at)
		if size := bytes.IndexByte(line, '.'); size > 0 && size <= maxCompared {
			t := target{at: uint16(at), end: uint16(at + len(line)), name: uint8(size), rarity: uint8(bits.Len(uint(len(all))))}
			t.top = x.tops.placeOf(lastLabel(line))
			t.rarityInEnding = uint8(bits.Len(uint(x.sameEnding(all, t))))
			all = append(all, t)
		}
		at += len(line) + 1
	}
	return all
}

// sameEnding counts the targets of all that end as t does.
func (x *Index) sameEnding(all []target, t target) (count int) {
	for i := range all {
		if bytes.Equal(x.ending(all[i]), x.ending(t)) {
			count++
		}
	}
	return count
}

// group adds the names of the given size, each with its targets.
func (x *Index) group(inOrder []target, size int) {
	for i, t := range inOrder {
		if int(t.name) != size || t.grouped {
			continue
		}
		text := x.nameOf(t)
		n := name{at: t.at, first: uint16(len(x.targets)), size: t.name, rarity: t.rarity}
		n.stock, _ = stockWordIn(text, letterSet(text))
		for j := i; j < len(inOrder); j++ {
			if other := &inOrder[j]; int(other.name) == size && bytes.Equal(x.nameOf(*other), text) {
				other.grouped = true
				other.rarityInEnding = (other.rarityInEnding + n.rarity) / 2
				x.targets = append(x.targets, *other)
			}
		}
		n.last = uint16(len(x.targets))
		x.names = append(x.names, n)
	}
}

// sized returns the range of names of size bytes.
func (x *Index) sized(size int) (first, last int) {
	if size > maxCompared {
		return 0, 0
	}
	return int(x.from[size]), int(x.from[size+1])
}

var newline = []byte{'\n'}

// lineAt returns the line of lines that starts at at.
func lineAt(lines []byte, at int) []byte {
	line, _, _ := bytes.Cut(lines[at:], newline)
	return line
}
