package model

import "unicode/utf8"

// The alphabet of the model. The letters a to z are symbols 1 to 26.
const (
	edge     = 0  // the start or the end of a run of letters and digits
	digit    = 27 // any digit
	alphabet = 28 // how many symbols there are
)

// MaxName is how many bytes of a name are read. A local part has at most 64
// (RFC 5321 section 4.5.3.1.1); normalization can add a few.
const MaxName = 80

// Name is a local part as the model reads it: symbols, with an edge after each
// run. A Name can be reused; nothing is cleared but the counts.
type Name struct {
	length  int
	symbol  [MaxName + 1]uint8
	value   [MaxName + 1]uint8 // 0 to 9 for a digit, undefined for other symbols
	letters int                // Latin letters
	digits  int
}

// read fills n from name, which is UTF-8, preferably in NFC and lower case. It
// drops apostrophes and the marks of Latin letters. Every other character that
// is not a Latin letter or a digit ends a run.
func (n *Name) read(name []byte) {
	n.length, n.letters, n.digits = 0, 0, 0
	name = name[:min(len(name), MaxName)]
	for i := 0; i < len(name); i++ {
		switch b := name[i]; {
		case b >= 'a' && b <= 'z':
			n.letter(b)
		case b >= '0' && b <= '9':
			n.value[n.length] = b - '0'
			n.push(digit)
			n.digits++
		case b >= 'A' && b <= 'Z':
			n.letter(b + 'a' - 'A')
		case b == '\'' || b == '`': // o'brien is usually typed obrien
		case b < utf8.RuneSelf:
			n.cut()
		default:
			r, size := utf8.DecodeRune(name[i:])
			i += size - 1
			n.nonASCII(r)
		}
	}
	n.cut()
}

func (n *Name) letter(b byte) {
	n.push(b - 'a' + 1)
	n.letters++
}

func (n *Name) push(s uint8) {
	n.symbol[n.length] = s
	n.length++
}

// cut ends the current run, if any.
func (n *Name) cut() {
	if n.length > 0 && n.symbol[n.length-1] != edge {
		n.push(edge)
	}
}

// nonASCII adds a Latin letter without its mark, skips a combining mark, and
// ends the run at any other character.
func (n *Name) nonASCII(r rune) {
	switch b := base(r); {
	case b != ' ':
		n.letter(b)
	case r >= 0x300 && r < 0x370: // Combining Diacritical Marks
	default:
		n.cut()
	}
}
