package lists

// table is one table of a blob; its slices lie in the blob.
type table struct {
	ends    []byte
	endAt   [257]uint16 // where each ending's text starts in ends, after its length
	shelves []byte
	blocks  []byte
	heads   []byte
	tails   []byte
	values  []byte
	texts   []byte
}

// find returns the value of name; 0 when it is not there.
func (t *table) find(name []byte) byte {
	s, ok := shelf(name)
	if !ok {
		return 0
	}
	first, end := u16(t.shelves[2*s:]), u16(t.shelves[2*s+2:])
	if first == end {
		return 0
	}
	rest := name[minName:]
	return t.scan(rest, t.block(rest, first, end), first, end)
}

// block returns the block that holds rest, if any does, among the entries
// from first to end: the last one whose first entry is not after rest.
func (t *table) block(rest []byte, first, end int) int {
	low, high := first/perBlock, (end-1)/perBlock
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

// startsAfter reports whether block b's first entry comes after rest.
func (t *table) startsAfter(b int, rest []byte) bool {
	e := b * perBlock
	text, size := t.text(e, u24(t.blocks[3*b:]))
	own := t.texts[text : text+size]
	n := common(own, rest)
	if n < len(own) {
		return n == len(rest) || own[n] > rest[n]
	}
	return string(t.end(e)) > string(rest[n:])
}

// scan walks block b for rest, among the entries from first to end. matched
// is how many letters of rest the last text begins with.
func (t *table) scan(rest []byte, b, first, end int) byte {
	e, text := t.skip(b, first)
	for matched := 0; e < min(end, (b+1)*perBlock); e++ {
		start, size := t.text(e, text)
		text = start + size
		shared := int(t.heads[e] >> 4)
		if shared > matched {
			continue
		}
		own := t.texts[start:text]
		n := common(own, rest[shared:])
		matched = shared + n
		if n == size && string(rest[matched:]) == string(t.end(e)) {
			return t.values[e]
		}
		if n < size && (matched == len(rest) || own[n] > rest[matched]) {
			return 0 // what follows comes after rest too
		}
	}
	return 0
}

// skip passes over the entries of block b before first.
func (t *table) skip(b, first int) (e, text int) {
	e, text = b*perBlock, u24(t.blocks[3*b:])
	for ; e < first; e++ {
		start, size := t.text(e, text)
		text = start + size
	}
	return e, text
}

// text returns where in texts entry e's own letters start and how many they
// are, given where the entry starts.
func (t *table) text(e, at int) (start, size int) {
	if size = int(t.heads[e] & 15); size == longText {
		return at + 1, int(t.texts[at])
	}
	return at, size
}

// end returns the ending of entry e.
func (t *table) end(e int) []byte {
	tail := int(t.tails[e])
	return t.ends[t.endAt[tail] : t.endAt[tail+1]-1]
}

// common returns how many letters a and b begin with alike.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func u16(b []byte) int { return int(b[0]) | int(b[1])<<8 }

func u24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

func u32(b []byte) int { return u24(b) | int(b[3])<<24 }
