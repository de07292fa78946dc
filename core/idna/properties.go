package idna

import (
	"sort"

	"github.com/addrspec/addrspec/core/internal/ascii"
)

//go:generate go run ./gentables tables.go

// properties are the properties of one character that this package uses, as
// core/idna/gentables packs them.
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
func (p properties) class() uint8         { return uint8(p >> 16) } // canonical combining class
func (p properties) isVirama() bool       { return p.class() == 9 }

// propertiesOf returns the properties of r from the two-stage table.
func propertiesOf(r rune) properties {
	block := int(r>>6) * 2
	if block >= len(propertyIndex) {
		if 0xE0100 <= r && r <= 0xE01EF { // variation selectors
			return properties(ignored)
		}
		return properties(disallowed)
	}
	number := int(propertyIndex[block]) | int(propertyIndex[block+1])<<8
	return propertyRecords[propertyBlocks[number<<6|int(r&63)]]
}

// IsMark reports whether r is a combining mark (general category M).
func IsMark(r rune) bool { return propertiesOf(r).isMark() }

// IsDot reports whether UTS #46 maps r, a character beyond ASCII, to a full stop.
func IsDot(r rune) bool { return r == 0x3002 || r == 0xFF0E || r == 0xFF61 }

// runeRange maps each of first, first+step, ..., last to itself plus delta.
type runeRange struct{ first, last, step, delta rune }

// mapRune returns the mapping of r by ranges, which are sorted; r itself if it
// is in none.
func mapRune(ranges []runeRange, r rune) rune {
	i := sort.Search(len(ranges), func(i int) bool { return ranges[i].last >= r })
	if i == len(ranges) {
		return r
	}
	if found := &ranges[i]; found.first <= r && (r-found.first)%found.step == 0 {
		return r + found.delta
	}
	return r
}

// lowerRune returns the simple lower-case mapping of r.
func lowerRune(r rune) rune {
	if r < 0x80 {
		return rune(ascii.Lower(byte(r)))
	}
	return mapRune(lowerRanges[:], r)
}

// runeString maps one character to several.
type runeString struct {
	from rune
	to   string
}

// mappedString returns the characters that UTS #46 maps r to, if there are
// several; else "".
func mappedString(r rune) string {
	i := sort.Search(len(mappedStrings), func(i int) bool { return mappedStrings[i].from >= r })
	if i < len(mappedStrings) && mappedStrings[i].from == r {
		return mappedStrings[i].to
	}
	return ""
}
