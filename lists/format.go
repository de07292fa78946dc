package lists

// The bytes of a blob, integers little-endian:
//
//	blob    = magic version check date size table size table size targets size tops
//	magic   = "addrspec"
//	version = u8                 ; of this format
//	check   = u32                ; CRC-32 (IEEE) of everything after it
//	date    = 10 bytes           ; "2026.11.20", when the sources were read
//	size    = u32                ; of the part that follows
//	targets = *(name LF)         ; typo targets, most used first
//	tops    = *(label LF)        ; top-level domains, in byte order
//
// The first table is of domains, the second of role words. A table maps a
// name to one byte. The first two characters of a name choose a shelf, which
// is a run of blocks; the name's hash chooses the block; the block's entries
// hold the rest of the name. So a miss is settled by the true letters, as a
// hit is, and costs one hash and one short scan.
//
//	table   = ends-n blocks-n entries-n values ends shelves blocks heads tails texts
//	ends-n  = u8                 ; number of endings less one
//	blocks-n = u16
//	entries-n = u24
//	values  = 16u8               ; what an entry's kind stands for
//	ends    = (ends-n + 1)end    ; end 0 is empty
//	end     = length *char       ; u8 and the text of a common ending (".com")
//	shelves = 1445u16            ; first block of each of the 38 x 38 shelves, then blocks-n
//	blocks  = (blocks-n + 1)(u24 u24) ; first entry and first text byte of each block, then their totals
//	heads   = entries-n u8       ; kind << 4 | length of the entry's text; 15: the text's first byte is its length
//	tails   = entries-n u8       ; which ending follows the text
//	texts   = *char              ; the entries' texts, one after the other
//
// A shelf is 38 * code(first) + code(second) where a-z are 0 to 25, 0-9 are
// 26 to 35, "-" is 36 and "." is 37. Of a shelf's n blocks a name lies in
// block hash * n >> 32.
//
// Example: in a table where value 2 is 0x81 (Disposable and Below) and ending
// 1 is ".com", tempmail.com lies on shelf 38*19+4 = 726, with head 0x26 (kind
// 2, six letters), tail 1 and text "mpmail".
const (
	magic         = "addrspec"
	formatVersion = 1
	checkAt       = len(magic) + 1
	dateAt        = checkAt + 4
	dateSize      = 10
	partsAt       = dateAt + dateSize

	shelfCount = 38 * 38
	longText   = 15 // this length in a head: the true one is the text's first byte
	blockSize  = 6  // bytes of a block's row
	minName    = 2  // letters: fewer do not choose a shelf
	maxEnd     = 63 // letters of an ending
)

// hash is FNV-1a (32 bits), taken from the last character to the first and
// mixed at the end.
const hashSeed = uint32(2166136261)

func hashStep(h uint32, c byte) uint32 { return (h ^ uint32(c)) * 16777619 }

// hashEnd spreads a hash, so that its high bits choose a block evenly.
func hashEnd(h uint32) uint32 {
	h ^= h >> 15
	h *= 0x2c1b3c6d
	return h ^ h>>12
}

// block says which of a shelf's n blocks a name with hash h lies in.
func block(h uint32, n int) int { return int(uint64(hashEnd(h)) * uint64(n) >> 32) }

// shelf says which shelf name lies on; false when none can hold it.
func shelf(name []byte) (int, bool) {
	if len(name) < minName {
		return 0, false
	}
	first, second := shelfCode(name[0]), shelfCode(name[1])
	return 38*first + second, first >= 0 && second >= 0
}

func shelfCode(c byte) int {
	switch {
	case c-'a' < 26:
		return int(c - 'a')
	case c-'0' < 10:
		return int(c-'0') + 26
	case c == '-':
		return 36
	case c == '.':
		return 37
	}
	return -1
}
