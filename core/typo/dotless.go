package typo

import "math/bits"

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
