package typo

import "math/bits"

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
