package lists

// table is one table of a blob; its slices lie in the blob.
type table struct {
	values  []byte
	ends    []byte
	endAt   [257]uint16 // where each ending's text starts in ends, after its length
	shelves []byte
	blocks  []byte
	heads   []byte
	tails   []byte
	texts   []byte
}

// find returns the value of name, whose hash is h; 0 when it is not there.
func (t *table) find(name []byte, h uint32) byte {
	s, ok := shelf(name)
	if !ok {
		return 0
	}
	first := u16(t.shelves[2*s:])
	n := u16(t.shelves[2*s+2:]) - first
	if n == 0 {
		return 0
	}
	row := t.blocks[blockSize*(first+block(h, n)):]
	return t.scan(row, name[minName:])
}

// scan looks for an entry with the given rest of a name in one block.
func (t *table) scan(row, rest []byte) byte {
	text := u24(row[3:])
	for e, end := u24(row), u24(row[blockSize:]); e < end; e++ {
		size := int(t.heads[e] & 15)
		if size == longText {
			size = int(t.texts[text])
			text++
		}
		if t.matches(rest, text, size, t.tails[e]) {
			return t.values[t.heads[e]>>4]
		}
		text += size
	}
	return 0
}

// matches reports whether rest is the text of the given size at text and the
// ending tail.
func (t *table) matches(rest []byte, text, size int, tail byte) bool {
	at, next := int(t.endAt[tail]), int(t.endAt[int(tail)+1])-1
	return len(rest) == size+next-at &&
		string(rest[:size]) == string(t.texts[text:text+size]) &&
		string(rest[size:]) == string(t.ends[at:next])
}

func u16(b []byte) int { return int(b[0]) | int(b[1])<<8 }

func u24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

func u32(b []byte) int { return u24(b) | int(b[3])<<24 }
