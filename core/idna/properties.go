package idna

import (
	_ "embed"
	"math/bits"

	"github.com/addrspec/addrspec/core/internal/ascii"
)

//go:generate go run ./gentables

// UnicodeVersion is the version of Unicode that the tables describe.
const UnicodeVersion = "17.0.0"

// packed has the tables: the start of each part, in three bytes, the end of the last one, and the parts. Numbers are
// little-endian.
//
//go:embed tables.bin
var packed string

// The tables, in the order in which core/idna/gentables writes them.
var (
	propertyPages  = part(0) // the number of the block of each 64 characters, in two bytes
	propertyBlocks = part(1) // the number of the properties of each character
	records        = columnFrom(2)

	decompositions = table{part(5), part(6)}
	firsts         = columnFrom(7)  // of one step of the canonical decomposition
	seconds        = columnFrom(10) // 0 if the first one replaces the character alone

	composing = table{part(13), part(14)} // the characters that compose with a second one
	pairs     = part(15)                  // the index of the first pair of each, in two bytes
	partners  = columnFrom(16)
	composite = columnFrom(19)

	capitals = table{part(22), part(23)} // beyond ASCII
	lowered  = columnFrom(24)            // simple lower case

	mappings = table{part(27), part(28)} // of UTS #46, beyond lower case and NFC
	mappedTo = columnFrom(29)            // a character, or from severalFrom the place in texts
	texts    = part(32)                  // several characters, after their length in bytes
)

const severalFrom = 1 << 23

func part(n int) string {
	place := func(n int) int { return int(packed[3*n]) | int(packed[3*n+1])<<8 | int(packed[3*n+2])<<16 }
	return packed[place(n):place(n+1)]
}

// table is a set of characters that are numbered in order.
type table struct {
	pages  string // the number of the block of each 32 characters, 0 if none is in the set
	blocks string // a bitmap of 32 characters, and the number of the first of them in two bytes
}

func (t *table) find(r rune) int {
	page := int(r >> 5)
	if page >= len(t.pages) || t.pages[page] == 0 {
		return -1
	}
	at := 6 * (int(t.pages[page]) - 1)
	block := t.blocks[at : at+6]
	members := uint32(block[0]) | uint32(block[1])<<8 | uint32(block[2])<<16 | uint32(block[3])<<24
	bit := uint32(1) << (r & 31)
	if members&bit == 0 {
		return -1
	}
	first := int(block[4]) | int(block[5])<<8
	return first + bits.OnesCount32(members&(bit-1))
}

// column has a number for each character of a table.
type column struct{ low, middle, high string }

func columnFrom(n int) column { return column{part(n), part(n + 1), part(n + 2)} }

func (c *column) at(i int) rune {
	return rune(c.low[i]) | rune(c.middle[i])<<8 | rune(c.high[i])<<16
}

// properties are the properties of one character that this package uses.
type properties uint32

// status is the status of a character in a domain label: its mapping by UTS #46
// (non-transitional, STD3 rules) or, if it is not mapped, its derived property by
// RFC 5892.
type status uint8

const (
	disallowed status = iota
	pvalid
	contextJ
	contextO
	mapped
	ignored
	jamo // disallowed alone, but a label is judged in NFC, which composes jamo to syllables
)

// direction is the bidirectional class, reduced to the classes of RFC 5893.
type direction uint8

const (
	bidiOther   direction = iota // not allowed in any label of a Bidi domain name
	bidiL                        // left to right
	bidiR                        // right to left, Arabic letters too
	bidiAN                       // Arabic number
	bidiEN                       // European number
	bidiNSM                      // nonspacing mark
	bidiNeutral                  // ES, CS, ET, ON, BN
)

// script is the script, reduced to those of RFC 5892 appendix A.
type script uint8

const (
	otherScript script = iota
	greek
	hebrew
	kanaOrHan
)

func (p properties) status() status       { return status(p & 7) }
func (p properties) direction() direction { return direction(p >> 3 & 7) }
func (p properties) script() script       { return script(p >> 6 & 3) }
func (p properties) joinsNext() bool      { return p&(1<<8) != 0 }  // Joining_Type L or D
func (p properties) joinsBefore() bool    { return p&(1<<9) != 0 }  // Joining_Type R or D
func (p properties) joinsThrough() bool   { return p&(1<<10) != 0 } // Joining_Type T
func (p properties) isMark() bool         { return p&(1<<11) != 0 } // general category M
func (p properties) composes() bool       { return p&(1<<12) != 0 } // in NFC with a character before it
func (p properties) class() uint8         { return uint8(p >> 16) } // canonical combining class
func (p properties) isVirama() bool       { return p.class() == 9 }

// propertiesOf returns the properties of r from the two-stage table.
func propertiesOf(r rune) properties {
	page := int(r>>6) * 2
	if page >= len(propertyPages) {
		if 0xE0100 <= r && r <= 0xE01EF { // variation selectors
			return properties(ignored)
		}
		return properties(disallowed)
	}
	block := int(propertyPages[page]) | int(propertyPages[page+1])<<8
	return properties(records.at(int(propertyBlocks[block<<6|int(r&63)])))
}

// IsMark reports whether r is a combining mark (general category M).
func IsMark(r rune) bool { return propertiesOf(r).isMark() }

// IsDot reports whether UTS #46 maps r, a character beyond ASCII, to a full stop.
func IsDot(r rune) bool { return r == 0x3002 || r == 0xFF0E || r == 0xFF61 }

func lowerRune(r rune) rune {
	if r < 0x80 {
		return rune(ascii.Lower(byte(r)))
	}
	if i := capitals.find(r); i >= 0 {
		return lowered.at(i)
	}
	return r
}
