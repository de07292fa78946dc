package core

import (
	"testing"
	"unicode"

	"github.com/addrspec/addrspec/core/internal/idnatest"
	"github.com/stretchr/testify/require"
)

// isHidden is the rule for hiddenRanges: controls, line and paragraph
// separators, characters that are Default_Ignorable_Code_Point because they have
// no glyph (derived as in DerivedCoreProperties.txt), and interlinear
// annotations. Variation selectors and prepended concatenation marks are visible
// by their effect on other characters.
func isHidden(r rune) bool {
	switch {
	case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control):
		return true
	case unicode.In(r, unicode.Variation_Selector, unicode.Prepended_Concatenation_Mark) && r != 0x180E:
		return false
	case 0x13430 <= r && r <= 0x1343F: // joiners of Egyptian hieroglyphs
		return false
	case 0xE0000 <= r && r <= 0xE0FFF:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
}

func TestHiddenCharacters(t *testing.T) {
	idnatest.Scalars(func(r rune) {
		if (hidden(r) != Accepted) != isHidden(r) {
			t.Errorf("%U is hidden: %t, want %t", r, hidden(r) != Accepted, isHidden(r))
		}
		if (hidden(r) == bidiControl) != unicode.Is(unicode.Bidi_Control, r) {
			t.Errorf("%U is %s", r, hidden(r).Code())
		}
		if isBlank(r) != (r >= 0x80 && unicode.Is(unicode.Zs, r)) {
			t.Errorf("%U is blank: %t", r, isBlank(r))
		}
	})
}

func TestHiddenRangesSorted(t *testing.T) {
	last := rune(-1)
	for _, h := range hiddenRanges {
		require.Less(t, last, h.first)
		require.LessOrEqual(t, h.first, h.last)
		last = h.last
	}
}
