package main

import (
	"bytes"
	"fmt"
	"log"
	"strings"
	"unicode"

	"golang.org/x/text/secure/precis"
	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// The layout of a record. core/idna/properties.go reads the same bits.
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

// blockShift: a block of the trie holds 1<<blockShift characters.
const blockShift = 6

// propertyLimit is the end of the planes with letters. Beyond it lie variation
// selectors, which the reader knows by itself, and nothing a label may hold.
const propertyLimit = 0x40000

// writeProperties writes a two-stage table: block numbers, blocks of record
// numbers, records.
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
	writeString(b, "propertyIndex", "propertyIndex holds, for each 64 characters, the number of their block; two octets, low first.", index[:last])
	writeString(b, "propertyBlocks", "propertyBlocks holds the number of each character's record.", blocks)
	fmt.Fprintf(b, "// propertyRecords are the distinct properties.\nvar propertyRecords = [...]properties{\n")
	for _, p := range records {
		fmt.Fprintf(b, "%#x,\n", p)
	}
	fmt.Fprintf(b, "}\n\n")
}

func record(r rune) uint32 {
	if 0xD800 <= r && r <= 0xDFFF {
		return 0
	}
	p := uint32(norm.NFD.PropertiesString(string(r)).CCC()) << cccShift
	if unicode.Is(unicode.M, r) {
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

func isDisallowed(r rune) bool { return r >= 0x80 && idna2008(r) == disallowed }

// The bidirectional classes that the Bidi rule (RFC 5893 section 2) tells apart.
const (
	bidiOther = iota // never in a label
	bidiL
	bidiR // R, AL
	bidiAN
	bidiEN
	bidiNSM
	bidiNeutral // ES, CS, ET, ON, BN
)

func bidiClass(r rune) uint32 {
	p, _ := bidi.LookupString(string(r))
	switch p.Class() {
	case bidi.L:
		return bidiL
	case bidi.R, bidi.AL:
		return bidiR
	case bidi.AN:
		return bidiAN
	case bidi.EN:
		return bidiEN
	case bidi.NSM:
		return bidiNSM
	case bidi.ES, bidi.CS, bidi.ET, bidi.ON, bidi.BN:
		return bidiNeutral
	}
	return bidiOther
}

// The scripts that the rules of RFC 5892 appendix A ask for.
const (
	scriptOther = iota
	scriptGreek
	scriptHebrew
	scriptKanaHan
)

func script(r rune) uint32 {
	switch {
	case unicode.Is(unicode.Greek, r):
		return scriptGreek
	case unicode.Is(unicode.Hebrew, r):
		return scriptHebrew
	case unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han):
		return scriptKanaHan
	}
	return scriptOther
}

// joiners applies the rule for U+200C, as IDNA2008 has it, to any text.
var joiners = precis.NewFreeform()

// joining asks how r joins from the rule for U+200C (RFC 5892 appendix A.1):
// to the next letter (Joining_Type L or D), to the one before (R or D), or
// through (T). No Go package publishes Joining_Type itself. x/net/idna has the
// rule as well, but lets a letter that does not join follow the joiner.
func joining(r rune) uint32 {
	const alef, beh, zwnj = "\u0627", "\u0628", "\u200c"
	ok := func(s string) bool { _, err := joiners.String(s); return err == nil }
	virama := norm.NFD.PropertiesString(string(r)).CCC() == 9
	next := !virama && ok(string(r)+zwnj+alef)
	before, over := ok(beh+zwnj+string(r)), ok(beh+zwnj+string(r)+alef)
	switch {
	case next && before:
		return joinsNext | joinsBefore
	case next:
		return joinsNext
	case before:
		return joinsBefore
	case over:
		return joinsThrough
	}
	return 0
}
