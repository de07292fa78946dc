package model

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

// base returns the letter a to z that a Latin letter is derived from, or a space.
func base(r rune) byte {
	switch {
	case r >= latinFirst && r < latinFirst+rune(len(latinBase)):
		return latinBase[r-latinFirst]
	case r >= moreFirst && r < moreFirst+rune(len(moreBase)):
		return moreBase[r-moreFirst]
	}
	return ' '
}
