package main

import (
	"bytes"
	"cmp"
	"fmt"
	"log"
	"slices"
	"strings"
)

// The layout of a record, as core/idna/properties.go reads it.
const (
	statusShift  = 0 // 3 bits
	bidiShift    = 3 // 3 bits
	scriptShift  = 6 // 2 bits
	joinsNext    = 1 << 8
	joinsBefore  = 1 << 9
	joinsThrough = 1 << 10
	markBit      = 1 << 11
	cccShift     = 16 // 8 bits
)

// The status of a character in a domain label.
const (
	statusDisallowed = iota
	statusPValid
	statusContextJ
	statusContextO
	statusMapped
	statusIgnored
)

// A block of the table has 1<<blockShift characters.
const blockShift = 6

// propertyLimit is the end of the planes with letters. Of the characters beyond
// it a label may contain only variation selectors, which package idna treats
// separately.
const propertyLimit = 0x40000

// writeProperties writes the two-stage table: the number of each block, the
// blocks, which consist of record numbers, and the records.
func writeProperties(b *bytes.Buffer) {
	records, numbers := []uint32{0}, map[uint32]byte{0: 0}
	blocks, places := []byte{}, map[string]int{}
	var index []byte
	last := 0
	for start := rune(0); start < propertyLimit; start += 1 << blockShift {
		block := make([]byte, 1<<blockShift)
		for i := range block {
			p := record(start + rune(i))
			n, ok := numbers[p]
			if !ok {
				if len(records) == 256 {
					log.Fatal("gentables: more than 256 records")
				}
				n = byte(len(records))
				records, numbers[p] = append(records, p), n
			}
			block[i] = n
		}
		place, ok := places[string(block)]
		if !ok {
			place = len(blocks) >> blockShift
			places[string(block)] = place
			blocks = append(blocks, block...)
		}
		index = append(index, byte(place), byte(place>>8))
		if strings.Trim(string(block), "\x00") != "" {
			last = len(index)
		}
	}
	writeString(b, "propertyIndex", "propertyIndex has the number of the block of each 64 characters, in two bytes, little-endian.", index[:last])
	writeString(b, "propertyBlocks", "propertyBlocks has the number of the record of each character of a block.", blocks)
	fmt.Fprintf(b, "// propertyRecords are the distinct records.\nvar propertyRecords = [...]properties{\n")
	for _, p := range records {
		fmt.Fprintf(b, "%#x,\n", p)
	}
	fmt.Fprintf(b, "}\n\n")
}

func record(r rune) uint32 {
	if 0xD800 <= r && r <= 0xDFFF {
		return 0
	}
	p := propertiesOf(r).class << cccShift
	if propertiesOf(r).category[0] == 'M' {
		p |= markBit
	}
	status := statusOf(r)
	p |= uint32(status) << statusShift
	if status == statusPValid || status == statusContextJ || status == statusContextO {
		p |= bidiClass(r)<<bidiShift | script(r)<<scriptShift | joining(r)
	}
	return p
}

func statusOf(r rune) int {
	if r < 0x80 {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' {
			return statusPValid
		}
		return statusDisallowed
	}
	to, ok := uts46(r)
	switch {
	case !ok:
		return statusDisallowed
	case to == "":
		return statusIgnored
	case to != string(r) && strings.ContainsFunc(to, isDisallowed):
		return statusDisallowed
	case to != string(r):
		return statusMapped
	}
	return map[derived]int{disallowed: statusDisallowed, pvalid: statusPValid, contextJ: statusContextJ, contextO: statusContextO}[idna2008(r)]
}

func isDisallowed(r rune) bool { return r >= 0x80 && idna2008(r) == disallowed && !composesHangul(r) }

// The bidirectional classes that the Bidi rule (RFC 5893 section 2) distinguishes.
const (
	bidiOther = iota // not allowed in a label with right-to-left characters
	bidiL
	bidiR // R, AL
	bidiAN
	bidiEN
	bidiNSM
	bidiNeutral // ES, CS, ET, ON, BN
)

func bidiClass(r rune) uint32 {
	switch propertiesOf(r).bidi {
	case "L":
		return bidiL
	case "R", "AL":
		return bidiR
	case "AN":
		return bidiAN
	case "EN":
		return bidiEN
	case "NSM":
		return bidiNSM
	case "ES", "CS", "ET", "ON", "BN":
		return bidiNeutral
	}
	return bidiOther
}

// The scripts that the rules of RFC 5892 appendix A distinguish.
const (
	scriptOther = iota
	scriptGreek
	scriptHebrew
	scriptKanaHan
)

func script(r rune) uint32 {
	switch propertiesOf(r).script {
	case "Greek":
		return scriptGreek
	case "Hebrew":
		return scriptHebrew
	case "Hiragana", "Katakana", "Han":
		return scriptKanaHan
	}
	return scriptOther
}

// joining returns how r joins: to the next letter, to the previous one or through.
func joining(r rune) uint32 {
	switch propertiesOf(r).joining {
	case "D":
		return joinsNext | joinsBefore
	case "L":
		return joinsNext
	case "R":
		return joinsBefore
	case "T":
		return joinsThrough
	}
	return 0
}

// derived is the IDNA2008 property of a code point (RFC 5892 section 1).
type derived uint8

const (
	disallowed derived = iota // or unassigned
	pvalid
	contextJ
	contextO
)

// exceptions is the table of RFC 5892 section 2.6.
var exceptions = map[rune]derived{
	0xDF: pvalid, 0x3C2: pvalid, 0x6FD: pvalid, 0x6FE: pvalid, 0xF0B: pvalid, 0x3007: pvalid,
	0xB7: contextO, 0x375: contextO, 0x5F3: contextO, 0x5F4: contextO, 0x30FB: contextO,
	0x640: disallowed, 0x7FA: disallowed, 0x302E: disallowed, 0x302F: disallowed,
	0x3031: disallowed, 0x3032: disallowed, 0x3033: disallowed, 0x3034: disallowed, 0x3035: disallowed, 0x303B: disallowed,
}

func init() {
	for i := rune(0); i < 10; i++ {
		exceptions[0x660+i], exceptions[0x6F0+i] = contextO, contextO
	}
}

// idna2008 returns the derived property of r (RFC 5892 section 3).
func idna2008(r rune) derived {
	if d, ok := exceptions[r]; ok {
		return d
	}
	c := propertiesOf(r)
	switch {
	case r == 0x200C || r == 0x200D:
		return contextJ
	case c.unstable, ignorable(r), oldHangulJamo(r):
		return disallowed
	}
	switch c.category {
	case "Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc":
		return pvalid
	}
	return disallowed
}

// ignorable reports whether r is in IgnorableBlocks (RFC 5892 section 2.4). What is
// in IgnorableProperties (section 2.3) NFKC_Casefold ignores, or it is no letter.
func ignorable(r rune) bool {
	return 0x20D0 <= r && r <= 0x20FF || 0x1D100 <= r && r <= 0x1D1FF || 0x1D200 <= r && r <= 0x1D24F
}

// oldHangulJamo reports whether r is in OldHangulJamo (RFC 5892 section 2.9).
func oldHangulJamo(r rune) bool {
	return 0x1100 <= r && r <= 0x11FF || 0xA960 <= r && r <= 0xA97C || 0xD7B0 <= r && r <= 0xD7FB
}

// composesHangul reports whether NFC composes r with others to a Hangul syllable
// (Unicode section 3.12), so that a label may contain what is mapped to it.
func composesHangul(r rune) bool {
	return 0x1100 <= r && r <= 0x1112 || 0x1161 <= r && r <= 0x1175 || 0x11A8 <= r && r <= 0x11C2
}

// uts46 returns the mapping of r by UTS #46, non-transitional, with STD3 rules,
// and whether r is allowed.
func uts46(r rune) (string, bool) {
	m := mappings[r]
	switch {
	case m == nil || m.status == uts46Disallowed:
		return "", false
	case m.status == uts46Ignored:
		return "", true
	case m.status == uts46Mapped:
		return m.to, m.to == "." || !strings.ContainsFunc(m.to, isSpecial)
	}
	return string(r), true
}

// isSpecial reports whether r is an ASCII character that STD3 does not allow.
func isSpecial(r rune) bool {
	return r < 0x80 && !(r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z')
}

// caseRange maps each of first, first+step, ..., last to itself plus delta.
type caseRange struct{ first, last, step, delta rune }

// runs combines mappings of single characters, sorted by from, into ranges.
func runs(from, to []rune) (ranges []caseRange) {
	for i := 0; i < len(from); {
		r := caseRange{from[i], from[i], 1, to[i] - from[i]}
		j := i + 1
		if j < len(from) && to[j]-from[j] == r.delta && from[j]-from[i] <= 2 {
			r.step = from[j] - from[i]
		}
		for ; j < len(from) && to[j]-from[j] == r.delta && from[j]-r.last == r.step; j++ {
			r.last = from[j]
		}
		ranges = append(ranges, r)
		i = j
	}
	return ranges
}

func writeRanges(b *bytes.Buffer, name, doc string, ranges []caseRange) {
	fmt.Fprintf(b, "// %s\nvar %s = [...]runeRange{ // %d\n", doc, name, len(ranges))
	for _, r := range ranges {
		fmt.Fprintf(b, "{%#x, %#x, %d, %d},\n", r.first, r.last, r.step, r.delta)
	}
	fmt.Fprintf(b, "}\n\n")
}

func writeLower(b *bytes.Buffer) {
	var from, to []rune
	scalars(func(r rune) {
		if l := lowerOf(r); l != r {
			from, to = append(from, r), append(to, l)
		}
	})
	writeRanges(b, "lowerRanges", "lowerRanges are the simple lower-case mappings beyond ASCII.", runs(from, to))
}

// lowerOf returns the simple lower case of r; r itself if it has a canonical
// decomposition, whose characters are mapped instead.
func lowerOf(r rune) rune {
	if l := lower[r]; l != 0 && len(nfd(r)) == 1 && nfd(r)[0] == r {
		return l
	}
	return r
}

// pair is one step of a canonical decomposition; second is 0 if first replaces
// composed alone.
type pair struct{ composed, first, second rune }

// writeDecompositions writes the canonical decompositions, one step each, and the
// compositions, as their indexes. Hangul syllables are left out, since package idna
// computes them.
func writeDecompositions(b *bytes.Buffer) {
	fmt.Fprintf(b, "// decompositions are the canonical decompositions, sorted by character.\nvar decompositions = [...]decomposition{ // %d\n", len(decomposed))
	for _, p := range decomposed {
		fmt.Fprintf(b, "{%#x, %#x, %#x},\n", p.composed, p.first, p.second)
	}
	fmt.Fprintf(b, "}\n\n")
	composing := compositions(decomposed)
	fmt.Fprintf(b, "// compositions are the indexes of the decompositions that NFC composes again, sorted by first and second character.\nvar compositions = [...]uint16{ // %d\n", len(composing))
	for _, i := range composing {
		fmt.Fprintf(b, "%d,\n", i)
	}
	fmt.Fprintf(b, "}\n\n")
}

// compositions returns the indexes of the pairs that NFC composes, sorted by
// first and second.
func compositions(all []pair) (composing []int) {
	for i, p := range all {
		if composed[[2]rune{p.first, p.second}] == p.composed {
			composing = append(composing, i)
		}
	}
	slices.SortFunc(composing, func(i, j int) int {
		return cmp.Or(cmp.Compare(all[i].first, all[j].first), cmp.Compare(all[i].second, all[j].second))
	})
	return composing
}

// writeMappings writes the mappings of UTS #46 that differ from the NFC of the
// lower case.
func writeMappings(b *bytes.Buffer) {
	var from, to []rune
	var longFrom []rune
	var longTo []string
	scalars(func(r rune) {
		m, ok := uts46(r)
		if !ok || m == "" || m == string(r) || m == plain(r) {
			return
		}
		if rs := []rune(m); len(rs) == 1 {
			from, to = append(from, r), append(to, rs[0])
		} else {
			longFrom, longTo = append(longFrom, r), append(longTo, m)
		}
	})
	writeRanges(b, "mappedRanges", "mappedRanges are the mappings of UTS #46 to one character, beyond lower case and NFC.", runs(from, to))
	fmt.Fprintf(b, "// mappedStrings are the mappings of UTS #46 to several characters.\nvar mappedStrings = [...]runeString{ // %d\n", len(longFrom))
	for i, r := range longFrom {
		fmt.Fprintf(b, "{%#x, %+q},\n", r, longTo[i])
	}
	fmt.Fprintf(b, "}\n\n")
}

// plain returns the NFC of the lower case of r, which package idna uses if there
// is no mapping.
func plain(r rune) string {
	var lowered []rune
	for _, d := range nfd(r) {
		lowered = append(lowered, lowerOf(d))
	}
	return compose(lowered)
}
