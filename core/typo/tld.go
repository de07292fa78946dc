package typo

// tldID is the number of a top-level domain in a tldTable. Those that are not in
// the table share otherTLD.
type tldID uint8

const otherTLD tldID = 63

// tldSet is a set of tldIDs.
type tldSet uint64

const allTLDs = ^tldSet(0)

func (id tldID) in(set tldSet) bool { return set>>(id&63)&1 != 0 }

// pack returns label as one word, or 0 if it has more than 8 bytes.
func pack(label []byte) (packed uint64) {
	if len(label) > 8 {
		return 0
	}
	for _, b := range label {
		packed = packed<<8 | uint64(b)
	}
	return packed
}

// tldTable is a hash table of the targets' top-level domains with linear
// probing.
type tldTable struct {
	packed []uint64   // by tldID
	slots  [128]uint8 // tldID plus 1, or 0; twice the number of IDs, so some stay free
}

// slot returns the index in slots that packed has or would get.
func (t *tldTable) slot(packed uint64) int {
	i := int(packed * 0x9E3779B97F4A7C15 >> 57)
	for t.slots[i] != 0 && t.packed[t.slots[i]-1] != packed {
		i = (i + 1) % len(t.slots)
	}
	return i
}

// set returns the set that has only packed, or the empty set if the table lacks
// it.
func (t *tldTable) set(packed uint64) tldSet {
	if id := t.slots[t.slot(packed)]; id != 0 {
		return 1 << (id - 1)
	}
	return 0
}

// add returns the ID of label, adding it if the table has room.
func (t *tldTable) add(label []byte) tldID {
	packed := pack(label)
	i := t.slot(packed)
	if t.slots[i] != 0 {
		return tldID(t.slots[i] - 1)
	}
	if t.isFull() || packed == 0 {
		return otherTLD
	}
	t.packed = append(t.packed, packed)
	t.slots[i] = uint8(len(t.packed))
	return tldID(len(t.packed) - 1)
}

func (t *tldTable) isFull() bool { return len(t.packed) == int(otherTLD) }

// meantTLDs returns the top-level domains that label may be typed for: label
// itself, the one that it is an omission of, or every one if label is not in
// the root zone and has no other use. known reports whether x.tlds has label.
func (x *Index) meantTLDs(label []byte) (meant tldSet, known bool) {
	if len(label) == 0 {
		return 0, false
	}
	packed := pack(label)
	meant = x.tlds.set(packed)
	known = meant != 0
	if complete := completed(packed); complete != 0 {
		meant |= x.tlds.set(complete)
	}
	switch {
	case meant != 0:
		return meant, known
	case !x.root.contains(label):
		if isSpecialUse(label) {
			return 0, known
		}
		return allTLDs, known
	case !x.tlds.isFull(): // then no TLD of up to 8 bytes has otherTLD
		return 0, known
	}
	return 1 << otherTLD, known
}

// completed returns com or net if tld is one of them with a letter left out: a
// country's TLD that is typed far more often by omission than on purpose. It
// returns 0 for any other.
func completed(tld uint64) uint64 {
	const com, net = 'c'<<16 | 'o'<<8 | 'm', 'n'<<16 | 'e'<<8 | 't'
	switch tld {
	case 'c'<<8 | 'o', 'c'<<8 | 'm', 'o'<<8 | 'm':
		return com
	case 'n'<<8 | 'e', 'e'<<8 | 't':
		return net
	}
	return 0
}
