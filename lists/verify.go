package lists

// parse finds the columns of a table.
func (t *table) parse(b []byte, name string) error {
	c := cursor{rest: b}
	counts := c.take(6)
	if c.short {
		return &DamagedError{"its table of " + name + " ends within its header"}
	}
	ends, blocks, entries := int(counts[0])+1, u16(counts[1:]), u24(counts[3:])
	t.values = c.take(16)
	t.ends = c.rest
	t.takeEnds(&c, ends)
	t.shelves = c.take(2 * (shelfCount + 1))
	t.blocks = c.take(blockSize * (blocks + 1))
	t.heads = c.take(entries)
	t.tails = c.take(entries)
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
		if c.short {
			return
		}
		if size[0] > maxEnd {
			c.short = true
			return
		}
		c.take(int(size[0]))
		at += 1 + int(size[0])
	}
	t.endAt[n] = uint16(at + 1)
}

// verify walks every shelf, block and entry once, so that no look-up in a
// table it accepts can leave the table.
func (t *table) verify(name string) error {
	blocks := len(t.blocks)/blockSize - 1
	if !t.verifyShelves(blocks) {
		return &DamagedError{"a shelf in its table of " + name + " points outside"}
	}
	entry, text := 0, 0
	for b := range blocks {
		row := t.blocks[blockSize*b:]
		if u24(row) != entry || u24(row[3:]) != text {
			return &DamagedError{"a block in its table of " + name + " does not begin where the one before ends"}
		}
		var ok bool
		if entry, text, ok = t.verifyBlock(entry, u24(row[blockSize:]), text); !ok {
			return &DamagedError{"an entry in its table of " + name + " reaches outside"}
		}
	}
	if last := t.blocks[blockSize*blocks:]; entry != len(t.heads) || text != len(t.texts) || u24(last) != entry || u24(last[3:]) != text {
		return &DamagedError{"its table of " + name + " holds more than its blocks"}
	}
	return nil
}

// verifyShelves checks that the shelves share out the blocks in order.
func (t *table) verifyShelves(blocks int) bool {
	before := 0
	for s := range shelfCount + 1 {
		first := u16(t.shelves[2*s:])
		if first < before || first > blocks {
			return false
		}
		before = first
	}
	return u16(t.shelves) == 0 && before == blocks
}

// verifyBlock walks the entries from entry to end and returns where the next
// block begins.
func (t *table) verifyBlock(entry, end, text int) (int, int, bool) {
	if end < entry || end > len(t.heads) {
		return 0, 0, false
	}
	for ; entry < end; entry++ {
		size := int(t.heads[entry] & 15)
		if size == longText {
			if text >= len(t.texts) {
				return 0, 0, false
			}
			size = int(t.texts[text])
			text++
		}
		text += size
		if text > len(t.texts) || t.endAt[int(t.tails[entry])+1] == 0 {
			return 0, 0, false
		}
	}
	return entry, text, true
}
