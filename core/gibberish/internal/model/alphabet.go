package model

import "unicode/utf8"

// Symbols of the model's alphabet: 1 to 26 are the letters a to z.
const (
	edge    = 0  // where a run of letters and digits begins or ends
	digit   = 27 // any digit
	symbols = 28
)

// MaxName is how many octets of a name are read. A local part has at most 64
// (RFC 5321 section 4.5.3.1.1); normalization can add a few.
const MaxName = 80

// Text is a name as the model reads it: symbols, with an edge after each run,
// and beside each digit which one it is.
type Text struct {
	n       int
	symbol  [MaxName + 1]uint8
	value   [MaxName + 1]uint8 // of a digit, 0 to 9; of another symbol, whatever stood there
	letters int                // how many Latin letters
	digits  int
	foreign int // letters of other scripts
}

// read fills t from name, which is UTF-8, best in NFC and lower case. Marks on
// Latin letters are dropped. Whatever is neither letter nor digit ends a run,
// and so do letters of other scripts.
func (t *Text) read(name []byte) {
	t.n, t.letters, t.digits, t.foreign = 0, 0, 0, 0
	name = name[:min(len(name), MaxName)]
	for i := 0; i < len(name); i++ {
		switch b := name[i]; {
		case b >= 'a' && b <= 'z':
			t.letter(b)
		case b >= '0' && b <= '9':
			t.value[t.n] = b - '0'
			t.push(digit)
			t.digits++
		case b >= 'A' && b <= 'Z':
			t.letter(b + 'a' - 'A')
		case b == '\'' || b == '`': // o'brien is typed obrien
		case b < utf8.RuneSelf:
			t.cut()
		default:
			r, size := utf8.DecodeRune(name[i:])
			i += size - 1
			t.other(r)
		}
	}
	t.cut()
}

func (t *Text) letter(b byte) {
	t.push(b - 'a' + 1)
	t.letters++
}

func (t *Text) push(s uint8) {
	t.symbol[t.n] = s
	t.n++
}

// cut ends the run, if there is one.
func (t *Text) cut() {
	if t.n > 0 && t.symbol[t.n-1] != edge {
		t.push(edge)
	}
}

// other takes in a character beyond ASCII.
func (t *Text) other(r rune) {
	switch b := base(r); {
	case b != ' ':
		t.letter(b)
	case r >= 0x300 && r < 0x370: // a combining mark
	default:
		t.foreign++
		t.cut()
	}
}

// Base letters of Latin letters with marks, by code point; a space where there is none.
const (
	latinFirst = 0xC0 // Latin-1 Supplement, Latin Extended-A and -B to U+025B
	latinBase  = "aaaaaaaceeeeiiiidnooooo ouuuuytsaaaaaaaceeeeiiiidnooooo ouuuuytyaaaaaaccccccccddddeeeeeeeeeegggg" +
		"gggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs" +
		" b    o  dd   eaeff    ikk      oo             uu  yyzz             dddlllnnnaaiioouuuuuuuuuueaa" +
		"aa  ggggkkoooo  jdddgg  nnaaaaooaaaaeeeeiiiioooorrrruuuusstt  hh      aaeeooooooooyy            " +
		"                   bo dd a e"
	moreFirst = 0x1E00 // Latin Extended Additional: transliterations, Vietnamese
	moreBase  = "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrrrrrrr" +
		"ssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwyas  s aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee" +
		"eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy"
)

// base returns the letter a to z that a Latin letter is built on, or a space.
func base(r rune) byte {
	switch {
	case r >= latinFirst && r < latinFirst+rune(len(latinBase)):
		return latinBase[r-latinFirst]
	case r >= moreFirst && r < moreFirst+rune(len(moreBase)):
		return moreBase[r-moreFirst]
	}
	return ' '
}
