package typo

import (
	"bytes"
	"math/bits"
)

// Index holds the targets: names apart from endings, ordered by length, each
// with the set of its letters, so that a domain that misspells none is told
// from all of them by one word compared per name. It is read-only once made.
type Index struct {
	lines   []byte                  // the targets as given
	targets []target                // grouped by name
	names   []name                  // by length
	letters []uint64                // of names, in their order
	from    [maxCompared + 2]uint16 // from[n] is the first name of n or more bytes
	tops    topLevels
	keys    *keyboard
}

// name is the first label of some targets.
type name struct {
	at          uint16 // where its text stands in lines
	first, last uint16 // its targets
	size        uint8
	rarity      uint8 // of its most used target
	mail        bool  // its text has "mail" in it
}

// target is one provider. Its rarity is the bits it takes to write how many
// targets are used more.
type target struct {
	at, end        uint16 // its domain in lines
	name           uint8  // how long the first label is
	rarity         uint8  // among all targets
	rarityInEnding uint8  // among those with the same ending
}

func (x *Index) domain(i int) []byte { return x.lines[x.targets[i].at:x.targets[i].end] }
func (x *Index) ending(i int) []byte { return x.domain(i)[x.targets[i].name+1:] }
func (x *Index) nameOf(i int) []byte { return x.domain(i)[:x.targets[i].name] }
func (x *Index) text(n name) []byte  { return x.lines[n.at:][:n.size] }

// New indexes targets, one domain a line and most used first, and the
// top-level domains of the root zone, one a line in byte order. The index
// points into both.
func New(targets, tops []byte) *Index {
	x := &Index{lines: targets, tops: newTopLevels(tops), keys: newKeyboard()}
	x.parse()
	inOrder := x.targets
	x.targets = make([]target, 0, len(inOrder))
	for size := range x.from[1:] {
		x.from[size] = uint16(len(x.names))
		x.group(inOrder, size)
	}
	x.from[maxCompared+1] = uint16(len(x.names))
	return x
}

// parse finds the targets in lines, in their order.
func (x *Index) parse() {
	for at := 0; at < len(x.lines); {
		end := at + bytes.IndexByte(append(x.lines[at:len(x.lines):len(x.lines)], '\n'), '\n')
		if size := bytes.IndexByte(x.lines[at:end], '.'); size > 0 {
			x.targets = append(x.targets, target{at: uint16(at), end: uint16(end), name: uint8(size)})
		}
		at = end + 1
	}
	for i := range x.targets {
		x.targets[i].rarity = uint8(bits.Len(uint(i)))
		x.targets[i].rarityInEnding = uint8(bits.Len(uint(x.sameEnding(i))))
	}
}

// sameEnding counts the targets before i that end alike.
func (x *Index) sameEnding(i int) (count int) {
	for j := range i {
		if bytes.Equal(x.ending(i), x.ending(j)) {
			count++
		}
	}
	return count
}

// group adds the names of the given size with their targets.
func (x *Index) group(inOrder []target, size int) {
	known := len(x.names)
	for _, t := range inOrder {
		if int(t.name) != size {
			continue
		}
		text := x.lines[t.at:][:t.name]
		if x.isGrouped(known, text) {
			continue
		}
		n := name{at: t.at, first: uint16(len(x.targets)), size: t.name, rarity: t.rarity, mail: bytes.Contains(text, mail)}
		for _, other := range inOrder {
			if bytes.Equal(x.lines[other.at:][:other.name], text) {
				x.targets = append(x.targets, other)
			}
		}
		n.last = uint16(len(x.targets))
		x.names, x.letters = append(x.names, n), append(x.letters, letterSet(text))
	}
}

func (x *Index) isGrouped(from int, text []byte) bool {
	for _, n := range x.names[from:] {
		if bytes.Equal(x.text(n), text) {
			return true
		}
	}
	return false
}

// lengths returns the range of names from shortest to longest bytes long.
func (x *Index) lengths(shortest, longest int) (first, last int) {
	if shortest > maxCompared {
		return 0, 0
	}
	return int(x.from[max(shortest, 0)]), int(x.from[min(longest, maxCompared)+1])
}
