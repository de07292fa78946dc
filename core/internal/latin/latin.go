// Package latin has the base letters of accented Latin letters.
package latin

// The base letters of accented Latin letters by code point; a space if there
// is none.
const (
	latinFirst = 0xC0 // Latin-1 Supplement, Latin Extended-A and -B, IPA Extensions to U+025B
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

// Base returns the letter a to z that a Latin letter is derived from, or a space.
func Base(r rune) byte {
	switch {
	case r >= latinFirst && r < latinFirst+rune(len(latinBase)):
		return latinBase[r-latinFirst]
	case r >= moreFirst && r < moreFirst+rune(len(moreBase)):
		return moreBase[r-moreFirst]
	}
	return ' '
}

// IsMark reports whether r is a combining mark, such as the one that NFC leaves in a
// Turkish dotted i. It is one of the Combining Diacritical Marks.
func IsMark(r rune) bool { return r >= 0x300 && r < 0x370 }
