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

// The scripts that the rules of RFC 5892 appendix A distinguish.
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

// joiners applies the rule of IDNA2008 for U+200C to any text.
var joiners = precis.NewFreeform()

// joining returns how r joins: to the next letter (Joining_Type L or D), to the
// previous one (R or D) or through (T). No Go package exports Joining_Type, so it
// is derived from the verdicts of the rule for U+200C (RFC 5892 appendix A.1) on
// texts with r. x/net/idna implements the rule too, but allows a letter that does
// not join after the joiner.
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
