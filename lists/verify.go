package lists

// parse finds the columns of a table.
func (t *table) parse(b []byte, name string) error {
	c := cursor{rest: b}
	counts := c.take(3)
	if c.short {
		return &DamagedError{"its table of " + name + " ends within its header"}
	}
	ends, entries := int(counts[0])+1, u16(counts[1:])
	t.ends = c.rest
	t.takeEnds(&c, ends)
	t.shelves = c.take(2 * (shelfCount + 1))
	t.blocks = c.take(3 * ((entries + perBlock - 1) / perBlock))
	t.heads, t.tails, t.values = c.take(entries), c.take(entries), c.take(entries)
	t.texts = c.rest
	if c.short {
		return &DamagedError{"its table of " + name + " is cut short"}
	}
	return nil
}

// takeEnds notes where each ending lies, which is the one thing not searched
// in place.
func (t *table) takeEnds(c *cursor, n int) {
	at := 0
	for i := range n {
		t.endAt[i] = uint16(at + 1)
		size := c.take(1)
		if c.short || size[0] > maxEnd {
			c.short = true
			return
		}
		c.take(int(size[0]))
		at += 1 + int(size[0])
	}
	t.endAt[n] = uint16(at + 1)
}

// verify walks every shelf and entry once, so that no look-up in a table it
// accepts can leave the table or miss an entry for its place.
func (t *table) verify(name string) error {
	if !t.verifyShelves() {
		return &DamagedError{"a shelf in its table of " + name + " points outside"}
	}
	text, before := 0, 0
	for e := range t.heads {
		if e%perBlock == 0 && u24(t.blocks[3*(e/perBlock):]) != text {
			return &DamagedError{"a block in its table of " + name + " does not start where the one before ends"}
		}
		var ok bool
		if text, before, ok = t.verifyEntry(e, text, before); !ok {
			return &DamagedError{"an entry in its table of " + name + " reaches outside"}
		}
	}
	if text != len(t.texts) {
		return &DamagedError{"its table of " + name + " holds more than its entries"}
	}
	return nil
}

// verifyShelves checks that the shelves share out the entries in order.
func (t *table) verifyShelves() bool {
	before := 0
	for s := range shelfCount + 1 {
		first := u16(t.shelves[2*s:])
		if first < before || first > len(t.heads) {
			return false
		}
		before = first
	}
	return u16(t.shelves) == 0 && before == len(t.heads)
}

// verifyEntry checks entry e, whose text starts at text, after one whose whole
// text has before letters. It returns both for the next entry.
func (t *table) verifyEntry(e, text, before int) (next, letters int, ok bool) {
	shared, size := int(t.heads[e]>>4), int(t.heads[e]&15)
	if size == longText {
		if text >= len(t.texts) {
			return 0, 0, false
		}
		size = int(t.texts[text])
		text++
	}
	ok = text+size <= len(t.texts) && t.endAt[int(t.tails[e])+1] != 0 && // the ending exists
		shared <= before && (e%perBlock != 0 || shared == 0)
	return text + size, shared + size, ok
}
