package main

import (
	"cmp"
	"encoding/binary"
	"log"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// The properties of a character, as core/idna/properties.go reads them.
const (
	disallowed = iota // status: 3 bits
	pvalid
	contextJ
	contextO
	mapped
	ignored
	jamo

	bidiShift    = 3 // 3 bits
	scriptShift  = 6 // 2 bits
	joinsNext    = 1 << 8
	joinsBefore  = 1 << 9
	joinsThrough = 1 << 10
	mark         = 1 << 11
	composes     = 1 << 12
	classShift   = 16 // 8 bits
)

var (
	bidiClasses = map[string]uint32{"Left_To_Right": 1, "Right_To_Left": 2, "Arabic_Letter": 2, "Arabic_Number": 3,
		"European_Number": 4, "Nonspacing_Mark": 5, "European_Separator": 6, "Common_Separator": 6,
		"European_Terminator": 6, "Other_Neutral": 6, "Boundary_Neutral": 6}
	scripts = map[string]uint32{"Greek": 1, "Hebrew": 2, "Hiragana": 3, "Katakana": 3, "Han": 3}
	joining = map[string]uint32{"Dual_Joining": joinsNext | joinsBefore, "Left_Joining": joinsNext,
		"Right_Joining": joinsBefore, "Transparent": joinsThrough}
)

// tables returns core/idna/tables.bin: the start of each part, in three bytes, the end of the last one, and the parts.
func (d *data) tables() []byte {
	pages, blocks, records := d.propertyTable()
	parts := append([][]byte{pages, blocks}, columns(records)...)
	decomposed := slices.Sorted(maps.Keys(d.Decompositions))
	var firsts, seconds []rune
	for _, r := range decomposed {
		pair := append(d.Decompositions[r], 0)
		firsts, seconds = append(firsts, pair[0]), append(seconds, pair[1])
	}
	var upper, lower []rune // but of characters with a decomposition, whose characters are mapped instead
	for _, r := range slices.Sorted(maps.Keys(d.Lower)) {
		if r >= utf8.RuneSelf && d.Decompositions[r] == nil {
			upper, lower = append(upper, r), append(lower, d.Lower[r])
		}
	}
	parts = slices.Concat(parts, set(decomposed), columns(firsts), columns(seconds), d.compositions(),
		set(upper), columns(lower), d.mappingTable())
	var header []byte
	place := 3 * (len(parts) + 1)
	for _, part := range append(parts, nil) {
		header = append(header, byte(place), byte(place>>8), byte(place>>16))
		place += len(part)
	}
	return append(header, slices.Concat(parts...)...)
}

// propertyTable returns the number of the block of each 64 characters, in two bytes; the blocks, which have the
// number of each character's properties; and the properties. It ends before the variation selectors, which package
// idna treats separately. A label may contain no character beyond them.
func (d *data) propertyTable() (pages, blocks []byte, records []uint32) {
	end := rune(0xE0100)
	for d.record(end-1) == 0 {
		end--
	}
	records = []uint32{0}
	numbers, blocks := twoStage(end, func(r rune) byte {
		p := d.record(r)
		n := slices.Index(records, p)
		if n < 0 {
			n, records = len(records), append(records, p)
		}
		if n > 255 {
			log.Fatal("more than 256 records")
		}
		return byte(n)
	})
	for _, n := range numbers {
		pages = binary.LittleEndian.AppendUint16(pages, uint16(n))
	}
	return pages, blocks, records
}

// twoStage returns the number of the block of each 64 characters before end, and the blocks, which have the value of
// each character.
func twoStage(end rune, value func(r rune) byte) (numbers []int, blocks []byte) {
	known := map[string]int{}
	for start := rune(0); start < end; start += 64 {
		block := make([]byte, 64)
		for i := range block {
			block[i] = value(start + rune(i))
		}
		n, ok := known[string(block)]
		if !ok {
			n = len(known)
			known[string(block)] = n
			blocks = append(blocks, block...)
		}
		numbers = append(numbers, n)
	}
	return numbers, blocks
}

func (d *data) record(r rune) uint32 {
	c := d.Properties.at(r)
	record := d.status(r) | c.Class<<classShift
	if strings.HasSuffix(c.Category, "_Mark") {
		record |= mark
	}
	if d.seconds[r] || composesHangul(r) && r >= 0x1161 {
		record |= composes
	}
	if status := record & 7; status == pvalid || status == contextJ || status == contextO {
		record |= bidiClasses[c.Bidi]<<bidiShift | scripts[c.Script]<<scriptShift | joining[c.Joining]
	}
	return record
}

func (d *data) status(r rune) uint32 {
	if r < utf8.RuneSelf {
		if isLDH(r) {
			return pvalid
		}
		return disallowed
	}
	to, ok := d.uts46(r)
	refused := func(r rune) bool { return r >= utf8.RuneSelf && d.idna2008(r) == disallowed && !composesHangul(r) }
	switch {
	case !ok:
		return disallowed
	case to == "":
		return ignored
	case to != string(r) && strings.ContainsFunc(to, refused):
		return disallowed
	case to != string(r):
		return mapped
	case composesHangul(r):
		return jamo
	}
	return d.idna2008(r)
}

func isLDH(r rune) bool { return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' }

// uts46 returns the mapping of r by UTS #46, non-transitional, with STD3 rules, and whether r is allowed.
func (d *data) uts46(r rune) (to string, ok bool) {
	special := func(r rune) bool { return r < utf8.RuneSelf && !isLDH(r) }
	switch m := d.Mappings.at(r); m.Status {
	case 0, 3:
		return "", false
	case 7:
		return "", true
	case 1:
		return m.To, m.To == "." || !strings.ContainsFunc(m.To, special)
	}
	return string(r), true
}

// idna2008 returns the derived property of r (RFC 5892 section 3).
func (d *data) idna2008(r rune) uint32 {
	switch r { // section 2.6
	case 0xDF, 0x3C2, 0x6FD, 0x6FE, 0xF0B, 0x3007:
		return pvalid
	case 0xB7, 0x375, 0x5F3, 0x5F4, 0x30FB:
		return contextO
	case 0x640, 0x7FA, 0x302E, 0x302F, 0x3031, 0x3032, 0x3033, 0x3034, 0x3035, 0x303B:
		return disallowed
	case 0x200C, 0x200D:
		return contextJ
	}
	within := func(first, last rune) bool { return first <= r && r <= last }
	c := d.Properties.at(r)
	switch {
	case within(0x660, 0x669), within(0x6F0, 0x6F9):
		return contextO
	// IgnorableBlocks (section 2.4). What is in IgnorableProperties (2.3) NFKC_Casefold ignores, or it is no letter.
	case c.Unstable, within(0x20D0, 0x20FF), within(0x1D100, 0x1D1FF), within(0x1D200, 0x1D24F):
		return disallowed
	case within(0x1100, 0x11FF), within(0xA960, 0xA97C), within(0xD7B0, 0xD7FB): // OldHangulJamo (section 2.9)
		return disallowed
	}
	switch c.Category {
	case "Lowercase_Letter", "Uppercase_Letter", "Other_Letter", "Decimal_Number", "Modifier_Letter", "Nonspacing_Mark",
		"Spacing_Mark":
		return pvalid
	}
	return disallowed
}

// composesHangul reports whether NFC composes r with others to a Hangul syllable
// (Unicode section 3.12), so that a label may contain what is mapped to it.
func composesHangul(r rune) bool {
	return 0x1100 <= r && r <= 0x1112 || 0x1161 <= r && r <= 0x1175 || 0x11A8 <= r && r <= 0x11C2
}

// set returns the two parts of a table of core/idna with these characters, which are sorted.
func set(characters []rune) [][]byte {
	var pages, blocks []byte
	for i, r := range characters {
		for int(r>>5) >= len(pages) {
			pages = append(pages, 0)
		}
		if pages[r>>5] == 0 {
			blocks = append(blocks, 0, 0, 0, 0, byte(i), byte(i>>8))
			if len(blocks) > 255*6 {
				log.Fatal("more than 255 blocks")
			}
			pages[r>>5] = byte(len(blocks) / 6)
		}
		blocks[len(blocks)-6+int(r>>3&3)] |= 1 << (r & 7)
	}
	return [][]byte{pages, blocks}
}

// columns returns the low, the middle and the high bytes of numbers, which compress better than numbers do.
func columns[N rune | uint32](numbers []N) [][]byte {
	c := make([][]byte, 3)
	for _, n := range numbers {
		c[0], c[1], c[2] = append(c[0], byte(n)), append(c[1], byte(n>>8)), append(c[2], byte(n>>16))
	}
	return c
}

// compositions returns the table of the characters that compose with a second one; for each the index of its first
// pair; and the pairs: the second character and what it composes to.
func (d *data) compositions() [][]byte {
	pairs := slices.SortedFunc(maps.Keys(d.composed), func(a, b [2]rune) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	var firsts, seconds, composed []rune
	var starts []byte
	for i, pair := range pairs {
		if i == 0 || pairs[i-1][0] != pair[0] {
			firsts, starts = append(firsts, pair[0]), binary.LittleEndian.AppendUint16(starts, uint16(i))
		}
		seconds, composed = append(seconds, pair[1]), append(composed, d.composed[pair])
	}
	starts = binary.LittleEndian.AppendUint16(starts, uint16(len(pairs)))
	return slices.Concat(set(firsts), [][]byte{starts}, columns(seconds), columns(composed))
}

// mappingTable returns the mappings of UTS #46 that differ from the NFC of the lower case, and the texts to which a
// number from 1<<23 refers, each after its length.
func (d *data) mappingTable() [][]byte {
	var from, to []rune
	var texts []byte
	for r := rune(utf8.RuneSelf); r <= utf8.MaxRune; r++ {
		m, ok := d.uts46(r)
		if !ok || m == "" || m == string(r) || m == d.lowerNFC(r) {
			continue
		}
		number, size := utf8.DecodeRuneInString(m)
		if size < len(m) {
			number = rune(1<<23 | len(texts))
			texts = append(append(texts, byte(len(m))), m...)
		}
		from, to = append(from, r), append(to, number)
	}
	return slices.Concat(set(from), columns(to), [][]byte{texts})
}

// nfd returns the canonical decomposition of r, which is no Hangul syllable.
func (d *data) nfd(r rune) (all []rune) {
	for _, step := range d.Decompositions[r] {
		all = append(all, d.nfd(step)...)
	}
	if all == nil {
		return []rune{r}
	}
	return all
}

// lowerNFC returns the NFC of the lower case of r (Unicode section 3.11).
func (d *data) lowerNFC(r rune) string {
	var result []rune
	for i, step := range d.nfd(r) {
		if lower := d.Lower[step]; lower != 0 {
			step = lower
		}
		if i > 0 {
			class, last := d.Properties.at(step).Class, d.Properties.at(result[len(result)-1]).Class
			if c := d.composed[[2]rune{result[0], step}]; c != 0 && (len(result) == 1 || last < class) {
				result[0] = c
				continue
			}
		}
		result = append(result, step)
	}
	return string(result)
}

// looks returns core/typo/looks.bin: which letter of ASCII the lower-case letters of Latin, Greek and Cyrillic look
// like. It has the number of the block of each 64 characters, and the blocks, with a byte for each character: the
// letter, and bit 7 if the character is that letter with marks; or 0.
func (d *data) looks() (content []byte) {
	const end = 0x1D240 // of Greek's notation of music
	numbers, blocks := twoStage(end, func(r rune) byte {
		script := d.Properties.at(r).Script
		if r < utf8.RuneSelf || script != "Latin" && script != "Greek" && script != "Cyrillic" || d.Lower[r] != 0 {
			return 0 // UTS #46 maps capital letters
		}
		return d.look(r)
	})
	for _, n := range numbers {
		content = append(content, byte(n))
	}
	return append(content, blocks...)
}

// look returns what r looks like. If r itself looks like no letter, its capital may: Ukrainian "М" and Latin "M".
func (d *data) look(r rune) byte {
	if look := d.plain(string(r)); look != 0 {
		return look | 0x80
	}
	if look := d.plain(d.Confusables[string(r)]); look != 0 {
		return look
	}
	if upper := d.Upper[r]; upper != 0 {
		r = upper
	}
	return d.plain(d.Confusables[string(r)])
}

// plain returns the ASCII letter or digit that s is, apart from marks, or 0.
// The skeleton of m is rn.
func (d *data) plain(s string) byte {
	var base []rune
	for _, r := range s {
		for _, step := range d.nfd(r) {
			if d.Properties.at(step).Category == "Nonspacing_Mark" {
				continue
			}
			if lower := d.Lower[step]; lower != 0 {
				step = lower
			}
			base = append(base, step)
		}
	}
	switch {
	case string(base) == "rn":
		return 'm'
	case len(base) == 1 && isLDH(base[0]) && base[0] != '-':
		return byte(base[0])
	}
	return 0
}
