package lists

import "github.com/addrspec/addrspec/lists/internal/format"

// table is one table of a blob. Its slices point into the blob; package format
// describes them.
type table struct {
	suffixes  []byte
	suffixAt  [format.MaxSuffixes + 1]uint16 // where each suffix starts in suffixes, after its length
	buckets   []byte
	blocks    []byte
	heads     []byte // of each block, the first byte of its first entry, which decides most steps of a binary search
	lengths   []byte
	suffixIDs []byte
	values    []byte
	high      []byte // of values; nil if one byte is enough
	texts     []byte
}

// parse splits b into the columns of t. It checks their sizes only; verify
// checks what is in them. name is for the error.
func (t *table) parse(b []byte, name string) error {
	c := cursor{rest: b}
	counts := c.take(4)
	if c.short {
		return &DamagedError{"its table of " + name + " ends within its header"}
	}
	suffixes, entries, wide := int(counts[0])+1, format.Uint16(counts[1:]), counts[3] == 2
	if !wide && counts[3] != 1 {
		return &DamagedError{"the values in its table of " + name + " have neither one nor two bytes"}
	}
	t.suffixes = c.rest
	t.parseSuffixes(&c, suffixes)
	t.buckets = c.take(2 * (format.Buckets + 1))
	t.blocks = c.take(3 * ((entries + format.BlockEntries - 1) / format.BlockEntries))
	t.lengths, t.suffixIDs, t.values = c.take(entries), c.take(entries), c.take(entries)
	if wide {
		t.high = c.take(entries)
	}
	t.texts = c.rest
	if c.short {
		return &DamagedError{"its table of " + name + " is truncated"}
	}
	return nil
}

// parseSuffixes records where each of n suffixes starts. The suffixes are the
// only part of a table that is indexed when it is opened: they are stored one
// after the other, so finding one by its number would mean a walk.
func (t *table) parseSuffixes(c *cursor, n int) {
	at := 0
	for i := range n {
		t.suffixAt[i] = uint16(at + 1)
		size := c.take(1)
		if c.short || size[0] > format.MaxSuffix {
			c.short = true
			return
		}
		c.take(int(size[0]))
		at += 1 + int(size[0])
	}
	t.suffixAt[n] = uint16(at + 1)
}

// index sets heads. The table must be verified.
func (t *table) index() {
	t.heads = make([]byte, len(t.blocks)/3)
	for b := range t.heads {
		e := b * format.BlockEntries
		if start, size := t.text(e, format.Uint24(t.blocks[3*b:])); size > 0 {
			t.heads[b] = t.texts[start]
		} else {
			t.heads[b] = byteAt(t.suffix(e), 0)
		}
	}
}

// text returns the start and length in texts of entry e's text, whose stored
// form starts at offset at.
func (t *table) text(e, at int) (start, size int) {
	if size = int(t.lengths[e] & 15); size == format.LongText {
		return at + 1, int(t.texts[at])
	}
	return at, size
}

// prefix returns how many bytes entry e shares with the previous one.
func (t *table) prefix(e int) int { return int(t.lengths[e] >> 4) }

// value returns the value of entry e.
func (t *table) value(e int) int {
	if t.high == nil {
		return int(t.values[e])
	}
	return int(t.values[e]) | int(t.high[e])<<8
}

// suffix returns the suffix of entry e.
func (t *table) suffix(e int) []byte {
	id := int(t.suffixIDs[e])
	return t.suffixes[t.suffixAt[id] : t.suffixAt[id+1]-1]
}

// hasSuffix reports whether s from offset n on is the suffix of entry e. Most differ in
// length.
func (t *table) hasSuffix(e int, s []byte, n int) bool {
	id := int(t.suffixIDs[e])
	start, end := int(t.suffixAt[id]), int(t.suffixAt[id+1])-1
	return end-start == len(s)-n && string(t.suffixes[start:end]) == string(s[n:])
}
