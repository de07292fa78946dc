package model

import (
	"unicode/utf8"

	"github.com/addrspec/addrspec/core/internal/latin"
)

// The alphabet of the model. The letters a to z are symbols 1 to 26.
const (
	edge     = 0  // the start or the end of a run of letters and digits
	digit    = 27 // any digit
	alphabet = 28 // how many symbols there are
)

// MaxName is how many bytes of a name are read: the limit on a local part (RFC 5321
// section 4.5.3.1.1). So a word of 64 bits can be a set of positions in a name.
const MaxName = 64

// Name is a local part as the model reads it: symbols, with an edge after each
// run. A Name can be reused; nothing is cleared but length and the sets.
type Name struct {
	length  int
	symbol  [MaxName + 1]uint8
	value   [MaxName + 1]uint8 // 0 to 9 for a digit, undefined for other symbols
	letters uint64             // where the Latin letters are: bit i is for symbol i
	digits  uint64             // where the digits are
}

// The values of symbolOf for bytes that are no symbols.
const (
	dropped  = 0xFE // o'brien is usually typed obrien
	nonASCII = 0xFF
)

// symbolOf maps every byte to its symbol.
var symbolOf = func() (t [256]uint8) {
	for b := range t {
		switch lower := b | 0x20; {
		case b >= utf8.RuneSelf:
			t[b] = nonASCII
		case lower >= 'a' && lower <= 'z':
			t[b] = uint8(lower - 'a' + 1)
		case b >= '0' && b <= '9':
			t[b] = digit
		}
	}
	t['\''], t['`'] = dropped, dropped
	return t
}()

// read fills n from name, which is UTF-8, preferably in NFC and lower case. It
// drops apostrophes and the marks of Latin letters. Every other character that
// is not a Latin letter or a digit ends a run.
func (n *Name) read(name []byte) {
	length, letters, digits := 0, uint64(0), uint64(0)
	name = name[:min(len(name), MaxName)]
	for i := 0; i < len(name); i++ {
		s := symbolOf[name[i]]
		if s == nonASCII {
			r, size := utf8.DecodeRune(name[i:])
			i += size - 1
			s = edge
			if b := latin.Base(r); b != ' ' { // a Latin letter, without its mark
				s = symbolOf[b]
			} else if latin.IsMark(r) {
				s = dropped
			}
		}
		switch {
		case s-1 < digit-1:
			letters |= 1 << (length & 63)
		case s == digit:
			digits |= 1 << (length & 63)
			n.value[length] = name[i] - '0'
		case s == dropped || length == 0 || n.symbol[length-1] == edge:
			continue
		}
		n.symbol[length] = s
		length++
	}
	if length > 0 && n.symbol[length-1] != edge { // the last run ends
		n.symbol[length] = edge
		length++
	}
	n.length, n.letters, n.digits = length, letters, digits
}

// leetLetters are the letters that the digits 0 to 9 replace inside a word; a
// space if a digit hardly ever replaces one.
const leetLetters = "oi eas t  "

// unleet replaces digits that have a letter on their right with the letters
// that they look like, and returns how many it replaced. It works from right
// to left, so a digit just replaced counts as a letter for the digit on its
// left. Digits at the end of a run are a number and stay.
func (n *Name) unleet() int {
	if n.digits == 0 {
		return 0
	}
	count := 0
	for i := n.length - 2; i >= 0; i-- {
		if n.symbol[i] != digit || !isLetter(n.symbol[i+1]) {
			continue
		}
		letter := leetLetters[n.value[i]]
		if letter == ' ' {
			continue
		}
		n.symbol[i] = letter - 'a' + 1
		n.letters |= 1 << i
		n.digits &^= 1 << i
		count++
	}
	return count
}
