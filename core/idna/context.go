package idna

// The joiners, which are invisible but change how adjacent characters look.
const (
	nonJoiner = 0x200C // ZERO WIDTH NON-JOINER
	joiner    = 0x200D // ZERO WIDTH JOINER
)

// IsJoiner reports whether r is one of the joiners U+200C and U+200D.
func IsJoiner(r rune) bool { return r == nonJoiner || r == joiner }

// contextAllows reports whether label satisfies the contextual rule of its
// character at index i (RFC 5892 appendix A). It returns false for a character
// without a rule.
func contextAllows(label []rune, i int) bool {
	before, after := runeAt(label, i-1), runeAt(label, i+1)
	switch r := label[i]; {
	case r == nonJoiner: // A.1
		return propertiesOf(before).isVirama() || joinsAcross(label, i)
	case r == joiner: // A.2
		return propertiesOf(before).isVirama()
	case r == 0xB7: // A.3, middle dot, as in Catalan
		return before == 'l' && after == 'l'
	case r == 0x375: // A.4, Greek keraia
		return propertiesOf(after).script() == greek
	case r == 0x5F3 || r == 0x5F4: // A.5 and A.6, Hebrew geresh and gershayim
		return propertiesOf(before).script() == hebrew
	case r == 0x30FB: // A.7, Katakana middle dot
		return hasKanaOrHan(label)
	case 0x660 <= r && r <= 0x669: // A.8, Arabic-Indic digits
		return !hasDigitFrom(label, 0x6F0)
	case 0x6F0 <= r && r <= 0x6F9: // A.9, extended Arabic-Indic digits
		return !hasDigitFrom(label, 0x660)
	}
	return false
}

// runeAt returns the character at index i, 0 if i is out of range.
func runeAt(label []rune, i int) rune {
	if i < 0 || i >= len(label) {
		return 0
	}
	return label[i]
}

// joinsAcross reports whether the letters on both sides of index i join, not
// counting transparent characters: (L or D) T* i T* (R or D).
func joinsAcross(label []rune, i int) bool {
	left, right := i-1, i+1
	for left >= 0 && propertiesOf(label[left]).joinsThrough() {
		left--
	}
	for right < len(label) && propertiesOf(label[right]).joinsThrough() {
		right++
	}
	return propertiesOf(runeAt(label, left)).joinsNext() && propertiesOf(runeAt(label, right)).joinsBefore()
}

func hasKanaOrHan(label []rune) bool {
	for _, r := range label {
		if propertiesOf(r).script() == kanaOrHan {
			return true
		}
	}
	return false
}

func hasDigitFrom(label []rune, zero rune) bool {
	for _, r := range label {
		if zero <= r && r <= zero+9 {
			return true
		}
	}
	return false
}
