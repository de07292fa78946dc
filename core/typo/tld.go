package typo

import "bytes"

// place is the place of a top-level domain in a topTable; those that find none
// there share lastPlace.
type place uint8

const lastPlace place = 63

// topSet is a set of places.
type topSet uint64

const allTops = ^topSet(0)

func (p place) in(set topSet) bool { return set>>(p&63)&1 != 0 }

// pack returns label as one word; 0 where it is too long for one.
func pack(label []byte) (packed uint64) {
	if len(label) > 8 {
		return 0
	}
	for _, b := range label {
		packed = packed<<8 | uint64(b)
	}
	return packed
}

// topTable holds top-level domains, packed, at their places, and finds them by
// hash: slots hold places, counted from 1, the next free one after the hash.
type topTable struct {
	packed []uint64
	slots  [128]uint8 // twice as many as there are places, so some stay free
}

// slot returns where packed stands in slots, or where it would.
func (t *topTable) slot(packed uint64) int {
	i := int(packed * 0x9E3779B97F4A7C15 >> 57)
	for t.slots[i] != 0 && t.packed[t.slots[i]-1] != packed {
		i = (i + 1) % len(t.slots)
	}
	return i
}

// set returns the set of packed; empty where it has no place.
func (t *topTable) set(packed uint64) topSet {
	if p := t.slots[t.slot(packed)]; p != 0 {
		return 1 << (p - 1)
	}
	return 0
}

// placeOf returns the place of label, which it gives it where it has none.
func (t *topTable) placeOf(label []byte) place {
	packed := pack(label)
	i := t.slot(packed)
	if t.slots[i] != 0 {
		return place(t.slots[i] - 1)
	}
	if t.isFull() || packed == 0 {
		return lastPlace
	}
	t.packed = append(t.packed, packed)
	t.slots[i] = uint8(len(t.packed))
	return place(len(t.packed) - 1)
}

func (t *topTable) isFull() bool { return len(t.packed) == int(lastPlace) }

// meantTops returns the top-level domains for which label may have been typed:
// itself, the one it is an omission of, and every one where it does not exist.
// isTop tells that label is the top-level domain of some target.
func (x *Index) meantTops(label []byte) (meant topSet, isTop bool) {
	if len(label) == 0 {
		return 0, false
	}
	packed := pack(label)
	meant = x.tops.set(packed)
	isTop = meant != 0
	if whole := completed(packed); whole != 0 {
		meant |= x.tops.set(whole)
	}
	switch {
	case meant != 0:
		return meant, isTop
	case !x.isTopLevel(label):
		return allTops, isTop
	case !x.tops.isFull(): // no target shares a place
		return 0, isTop
	}
	return 1 << lastPlace, isTop
}

// completed returns com or net for a country's top-level domain that is met as
// one of them with a letter left out far oftener than for itself; 0 for others.
func completed(top uint64) uint64 {
	const com, net = 'c'<<16 | 'o'<<8 | 'm', 'n'<<16 | 'e'<<8 | 't'
	switch top {
	case 'c'<<8 | 'o', 'c'<<8 | 'm', 'o'<<8 | 'm':
		return com
	case 'n'<<8 | 'e', 'e'<<8 | 't':
		return net
	}
	return 0
}

// isOmission reports whether typed is meant with a letter left out.
func isOmission(typed, meant []byte) bool {
	whole := completed(pack(typed))
	return whole != 0 && whole == pack(meant)
}

// topLevels are the top-level domains of the root zone, one a line in byte
// order, and where each line starts.
type topLevels struct {
	lines  []byte
	starts []uint16
}

func newTopLevels(lines []byte) topLevels {
	lines = lines[:min(len(lines), maxLines)]
	t := topLevels{lines: lines, starts: make([]uint16, 0, 1+bytes.Count(lines, newline))}
	for at := 0; at < len(lines); at += len(lineAt(lines, at)) + 1 {
		t.starts = append(t.starts, uint16(at))
	}
	return t
}

// isTopLevel reports whether label is a top-level domain.
func (x *Index) isTopLevel(label []byte) bool {
	low, high := 0, len(x.root.starts)
	for low < high {
		middle := (low + high) / 2
		switch order := bytes.Compare(lineAt(x.root.lines, int(x.root.starts[middle])), label); {
		case order == 0:
			return true
		case order < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return false
}
