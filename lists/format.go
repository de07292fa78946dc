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
// name to one byte. Its entries are sorted; the first two characters of a name
// choose a shelf, a run of entries that store the rest of their names only.
// Sixteen entries make a block. Within a block each entry leaves out what it
// shares with the text before it, and common endings are numbered. A look-up
// finds the block by halving the shelf, then walks the block: the true letters
// decide, for a hit as for a miss.
//
//	table   = ends-n entries-n ends shelves blocks heads tails values texts
//	ends-n  = u8                 ; number of endings less one
//	entries-n = u16
//	ends    = (ends-n + 1)end    ; end 0 is empty
//	end     = length *char       ; u8 and the text of a common ending (".com")
//	shelves = 1445u16            ; first entry of each of the 38 x 38 shelves, then entries-n
//	blocks  = *u24               ; where in texts each block starts
//	heads   = entries-n u8       ; letters shared with the text before << 4 | letters of its own; 15 own: see texts
//	tails   = entries-n u8       ; which ending follows
//	values  = entries-n u8       ; what the entry says
//	texts   = *char              ; each entry's own letters; where they are 15 or more, their number (u8) before them
//
// A shelf is 38 * code(first) + code(second) where a-z are 0 to 25, 0-9 are
// 26 to 35, "-" is 36 and "." is 37. The first entry of a shelf and of a block
// share nothing with the text before. Entries are in byte order of the rest of
// their names, endings included.
//
// Example: where ending 1 is ".com", tempmail.com and tempmailer.com stand on
// shelf 38*19+4 = 726 as head 0x06, tail 1, text "mpmail" and, after it, head
// 0x62, tail 1, text "er".
const (
	magic         = "addrspec"
	formatVersion = 1
	checkAt       = len(magic) + 1
	dateAt        = checkAt + 4
	dateSize      = 10
	partsAt       = dateAt + dateSize

	shelfCount = 38 * 38
	perBlock   = 16 // entries
	longText   = 15 // this length in a head: the true one is the text's first byte
	minName    = 2  // letters: fewer do not choose a shelf
	maxEnd     = 63 // letters of an ending
)

// shelf says which shelf name lies on; false when none can hold it.
func shelf(name []byte) (int, bool) {
	if len(name) < minName {
		return 0, false
	}
	first, second := int(shelfCode[name[0]]), int(shelfCode[name[1]])
	return 38*first + second, first|second >= 0
}

// shelfCode is the code of each character, -1 where it has none.
var shelfCode = func() (codes [256]int8) {
	for c := range codes {
		codes[c] = -1
	}
	for i, c := range []byte("abcdefghijklmnopqrstuvwxyz0123456789-.") {
		codes[c] = int8(i)
	}
	return codes
}()
