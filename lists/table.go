package lists

import "github.com/addrspec/addrspec/lists/internal/format"

// table is one table of a blob, by its columns in the blob. Package format describes them.
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

// parse splits b into the columns of t, and reports whether their sizes are right.
func (t *table) parse(b []byte) bool {
	c := cursor{rest: b}
	counts := c.take(4)
	if c.short {
		return false
	}
	suffixes, entries, bytes := int(counts[0])+1, format.Uint16(counts[1:]), counts[3]
	// The suffixes are stored one after the other, so where each starts is indexed: finding
	// one by its number would mean a walk.
	t.suffixes = c.rest
	at := 0
	for i := range suffixes {
		t.suffixAt[i] = uint16(at + 1)
		size := c.take(1)
		if c.short || size[0] > format.MaxSuffix {
			return false
		}
		c.take(int(size[0]))
		at += 1 + int(size[0])
	}
	t.suffixAt[suffixes] = uint16(at + 1)
	t.buckets = c.take(2 * (format.Buckets + 1))
	t.blocks = c.take(3 * ((entries + format.BlockEntries - 1) / format.BlockEntries))
	t.lengths, t.suffixIDs, t.values = c.take(entries), c.take(entries), c.take(entries)
	if bytes == 2 {
		t.high = c.take(entries)
	}
	t.texts = c.rest
	return !c.short && (bytes == 1 || bytes == 2)
}

// index sets heads. The table must be verified.
func (t *table) index() {
	t.heads = make([]byte, len(t.blocks)/3)
	for b := range t.heads {
		e := b * format.BlockEntries
		start, size := t.text(e, format.Uint24(t.blocks[3*b:]))
		if size > 0 {
			t.heads[b] = t.texts[start]
		} else {
			t.heads[b] = byteAt(t.suffix(e), 0)
		}
	}
}

// text returns where entry e's text is in texts, if its stored form starts at offset at.
func (t *table) text(e, at int) (start, size int) {
	size = int(t.lengths[e] & 15)
	if size == format.LongText {
		return at + 1, int(t.texts[at])
	}
	return at, size
}

func (t *table) prefix(e int) int { return int(t.lengths[e] >> 4) }

func (t *table) value(e int) int {
	if t.high == nil {
		return int(t.values[e])
	}
	return int(t.values[e]) | int(t.high[e])<<8
}

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

// find returns the value of name, or 0 if the table does not contain it.
func (t *table) find(name []byte) int {
	bucket, ok := format.Bucket(name)
	if !ok {
		return 0
	}
	bounds := t.buckets[2*bucket:][:4]
	first, end := format.Uint16(bounds), format.Uint16(bounds[2:])
	if first == end {
		return 0
	}
	rest := name[format.BucketBytes:]
	return t.scan(rest, t.block(rest, first, end), first, end)
}

// block returns the only block that can contain rest among the entries from
// first up to end: the last one whose first entry is not greater than rest.
func (t *table) block(rest []byte, first, end int) int {
	low, high := uint(first)/format.BlockEntries, uint(end-1)/format.BlockEntries
	head := byteAt(rest, 0)
	for low < high {
		middle := (low + high + 1) / 2
		if h := t.heads[middle]; h > head || h == head && t.startsAfter(int(middle), rest) {
			high = middle - 1
		} else {
			low = middle
		}
	}
	return int(low)
}

func byteAt(s []byte, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// startsAfter reports whether the first entry of block b is greater than rest.
func (t *table) startsAfter(b int, rest []byte) bool {
	e, texts := b*format.BlockEntries, t.texts
	at, size := t.text(e, format.Uint24(t.blocks[3*b:][:3]))
	n := 0
	for n < size && n < len(rest) && texts[at+n] == rest[n] {
		n++
	}
	if n < size {
		return n == len(rest) || texts[at+n] > rest[n]
	}
	return string(t.suffix(e)) > string(rest[n:])
}

// scan searches block b for rest among the entries from first up to end.
// matched is the number of bytes of rest that the previous entry's prefix and
// text match: an entry with a longer prefix than that cannot match either.
// Columns in local variables and indexes in place of slices are a third faster.
func (t *table) scan(rest []byte, b, first, end int) int {
	e, at := b*format.BlockEntries, format.Uint24(t.blocks[3*b:])
	lengths, texts, matched := t.lengths[:min(end, (b+1)*format.BlockEntries)], t.texts, 0
	for ; e < first; e++ { // of the bucket before
		size := int(lengths[e] & 15)
		if size == format.LongText {
			size = 1 + int(texts[at])
		}
		at += size
	}
	for ; e < len(lengths); e++ {
		n, size := int(lengths[e]>>4), int(lengths[e]&15)
		if size == format.LongText {
			size = int(texts[at])
			at++
		}
		i := at
		at += size
		if n > matched {
			continue
		}
		for i < at && n < len(rest) && texts[i] == rest[n] {
			i, n = i+1, n+1
		}
		matched = n
		switch {
		case i == at:
			if t.hasSuffix(e, rest, n) {
				return t.value(e)
			}
		case n == len(rest) || texts[i] > rest[n]:
			return 0 // this entry and all that follow are greater than rest
		}
	}
	return 0
}

// each calls do with the name and value of every entry, in order. The name is
// valid during the call.
func (t *table) each(do func(name []byte, value int)) {
	var memory [format.MaxName]byte
	at := 0
	for bucket := range format.Buckets {
		name := append(memory[:0], format.Alphabet[bucket/len(format.Alphabet)], format.Alphabet[bucket%len(format.Alphabet)])
		end := format.Uint16(t.buckets[2*bucket+2:])
		for e := format.Uint16(t.buckets[2*bucket:]); e < end; e++ {
			start, size := t.text(e, at)
			at = start + size
			name = append(name[:format.BucketBytes+t.prefix(e)], t.texts[start:at]...)
			do(append(name, t.suffix(e)...), t.value(e))
		}
	}
}

// verify checks every bucket and entry of a parsed table, so that no lookup in
// it can read out of range, and that no value is above most.
func (t *table) verify(most int) bool {
	first := 0
	for bucket := range format.Buckets + 1 { // they partition the entries in order
		before := first
		first = format.Uint16(t.buckets[2*bucket:])
		if first < before || first > len(t.lengths) || bucket == 0 && first != 0 {
			return false
		}
	}
	at, before := 0, 0 // where the entry's text is; the bytes of the one before, without its suffix
	for e := range t.lengths {
		if e%format.BlockEntries == 0 && format.Uint24(t.blocks[3*(e/format.BlockEntries):]) != at {
			return false
		}
		prefix, size := t.prefix(e), int(t.lengths[e]&15)
		if size == format.LongText {
			if at >= len(t.texts) {
				return false
			}
			size = int(t.texts[at])
			at++
		}
		if at+size > len(t.texts) || t.suffixAt[int(t.suffixIDs[e])+1] == 0 || // no such suffix
			prefix > before || e%format.BlockEntries == 0 && prefix != 0 || t.value(e) > most {
			return false
		}
		at, before = at+size, prefix+size
	}
	return first == len(t.lengths) && at == len(t.texts)
}
