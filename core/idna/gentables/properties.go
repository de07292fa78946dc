package main

import (
	"bytes"
	"fmt"
	"log"
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
