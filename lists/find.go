package lists

import "github.com/addrspec/addrspec/lists/internal/format"

// find returns the value of name, or 0 if the table does not contain it.
func (t *table) find(name []byte) int {
	bucket, ok := format.Bucket(name)
	if !ok {
		return 0
	}
	first, end := format.Uint16(t.buckets[2*bucket:]), format.Uint16(t.buckets[2*bucket+2:])
	if first == end {
		return 0
	}
	rest := name[format.BucketBytes:]
	return t.scan(rest, t.block(rest, first, end), first, end)
}

// block returns the only block that can contain rest among the entries from
// first up to end: the last one whose first entry is not greater than rest.
func (t *table) block(rest []byte, first, end int) int {
	low, high := first/format.BlockEntries, (end-1)/format.BlockEntries
	for low < high {
		middle := (low + high + 1) / 2
		if t.startsAfter(middle, rest) {
			high = middle - 1
		} else {
			low = middle
		}
	}
	return low
}

// startsAfter reports whether the first entry of block b is greater than rest.
func (t *table) startsAfter(b int, rest []byte) bool {
	e := b * format.BlockEntries
	start, size := t.text(e, format.Uint24(t.blocks[3*b:]))
	text := t.texts[start : start+size]
	n := common(text, rest)
	if n < len(text) {
		return n == len(rest) || text[n] > rest[n]
	}
	return string(t.suffix(e)) > string(rest[n:])
}

// scan searches block b for rest among the entries from first up to end.
// matched is the number of bytes of rest that the previous entry's prefix and
// text match: an entry with a longer prefix than that cannot match either.
//
// It has the columns in local variables: five usual addresses took 1,630 instructions each
// here with t.prefix and t.text, now 1,414 (callgrind).
func (t *table) scan(rest []byte, b, first, end int) int {
	e, at := t.skip(b, first)
	lengths, texts := t.lengths[:min(end, (b+1)*format.BlockEntries)], t.texts
	for matched := 0; e < len(lengths); e++ {
		prefix, size := int(lengths[e]>>4), int(lengths[e]&15)
		if size == format.LongText {
			size = int(texts[at])
			at++
		}
		text := texts[at : at+size]
		at += size
		if prefix > matched {
			continue
		}
		matched = prefix + common(text, rest[prefix:])
		switch n := matched - prefix; {
		case n == size:
			if string(rest[matched:]) == string(t.suffix(e)) {
				return t.value(e)
			}
		case matched == len(rest) || text[n] > rest[matched]:
			return 0 // this entry and all that follow are greater than rest
		}
	}
	return 0
}

// skip returns the first entry of block b that is not before first, and where
// its text is.
func (t *table) skip(b, first int) (e, at int) {
	e, at = b*format.BlockEntries, format.Uint24(t.blocks[3*b:])
	for ; e < first; e++ {
		start, size := t.text(e, at)
		at = start + size
	}
	return e, at
}

// common returns the length of the longest common prefix of a and b.
func common(a, b []byte) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
