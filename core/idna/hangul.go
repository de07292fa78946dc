package idna

// The constants of the algorithm that composes Hangul syllables (Unicode section
// 3.12).
const (
	hangulBase  = 0xAC00
	hangulEnd   = hangulBase + leadCount*vowelCount*trailCount
	leadBase    = 0x1100
	vowelBase   = 0x1161
	trailBase   = 0x11A7
	leadCount   = 19
	vowelCount  = 21
	trailCount  = 28
	syllablesOf = vowelCount * trailCount
)

// addHangul adds the decomposition of the Hangul syllable r.
func (t *runes) addHangul(r rune) {
	i := r - hangulBase
	t.text = append(t.text, leadBase+i/syllablesOf, vowelBase+i%syllablesOf/trailCount)
	if trail := i % trailCount; trail != 0 {
		t.add(trailBase + trail)
	}
}

// composedHangul returns the Hangul syllable that first and second compose into,
// or 0.
func composedHangul(first, second rune) rune {
	lead, vowel, trail, syllable := first-leadBase, second-vowelBase, second-trailBase, first-hangulBase
	switch {
	case 0 <= lead && lead < leadCount && 0 <= vowel && vowel < vowelCount:
		return hangulBase + (lead*vowelCount+vowel)*trailCount
	case 0 <= syllable && first < hangulEnd && syllable%trailCount == 0 && 0 < trail && trail < trailCount:
		return first + trail
	}
	return 0
}
