package idna

import "unicode/utf8"

// mapLabel sets c.text to label, mapped by UTS #46 and in NFC.
func (c *Converter) mapLabel(label []byte) Violation {
	c.text.reset()
	for i := 0; i < len(label); {
		r, size := utf8.DecodeRune(label[i:])
		if !c.text.addMapped(r) {
			return Violation{Rule: Character, Offset: i}
		}
		i += size
	}
	c.text.compose()
	if len(c.text.text) == 0 {
		return Violation{Rule: Character}
	}
	return Violation{}
}

// addMapped adds the mapping of r and reports whether r is allowed.
func (t *runes) addMapped(r rune) bool {
	if r < utf8.RuneSelf {
		t.add(lowerRune(r))
		return true
	}
	switch propertiesOf(r).status() {
	case disallowed:
		return false
	case mapped:
		t.addMapping(r)
	case ignored:
	default:
		t.addDecomposed(r, keepCase)
	}
	return true
}

// addMapping adds the mapping of r by UTS #46: the one in the tables or, if they
// have none, the lower case of r.
func (t *runes) addMapping(r rune) {
	if to := mappedString(r); to != "" {
		for _, m := range to {
			t.addDecomposed(m, keepCase)
		}
		return
	}
	if m := mapRune(mappedRanges[:], r); m != r {
		t.addDecomposed(m, keepCase)
		return
	}
	t.addDecomposed(r, lowerCase)
}
