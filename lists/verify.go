package lists

import "github.com/addrspec/addrspec/lists/internal/format"

// verify checks every bucket and entry of a parsed table, so that no look-up in
// it can read out of range, and that no value is above most. name is for the
// error.
func (t *table) verify(name string, most int) error {
	if !t.verifyBuckets() {
		return &DamagedError{"a bucket in its table of " + name + " is out of range"}
	}
	at, before := 0, 0
	for e := range t.lengths {
		if e%format.BlockEntries == 0 && format.Uint24(t.blocks[3*(e/format.BlockEntries):]) != at {
			return &DamagedError{"a block in its table of " + name + " does not start where the previous one ends"}
		}
		var ok bool
		if at, before, ok = t.verifyEntry(e, at, before); !ok || t.value(e) > most {
			return &DamagedError{"an entry in its table of " + name + " is out of range"}
		}
	}
	if at != len(t.texts) {
		return &DamagedError{"its table of " + name + " has bytes after its last entry"}
	}
	return nil
}

// verifyBuckets reports whether the buckets partition the entries in order.
func (t *table) verifyBuckets() bool {
	before := 0
	for bucket := range format.Buckets + 1 {
		first := format.Uint16(t.buckets[2*bucket:])
		if first < before || first > len(t.lengths) {
			return false
		}
		before = first
	}
	return format.Uint16(t.buckets) == 0 && before == len(t.lengths)
}

// verifyEntry checks entry e, whose text is at offset at; before is the length
// of the previous entry's prefix and text, which bounds the prefix of this one.
// It returns both figures for the next entry.
func (t *table) verifyEntry(e, at, before int) (next, length int, ok bool) {
	prefix, size := t.prefix(e), int(t.lengths[e]&15)
	if size == format.LongText {
		if at >= len(t.texts) {
			return 0, 0, false
		}
		size = int(t.texts[at])
		at++
	}
	ok = at+size <= len(t.texts) && t.suffixAt[int(t.suffixIDs[e])+1] != 0 && // the suffix exists
		prefix <= before && (e%format.BlockEntries != 0 || prefix == 0)
	return at + size, prefix + size, ok
}
