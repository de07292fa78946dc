package idna

import "unicode/utf8"

// appendULabel checks and appends the label in c.text, which has characters
// beyond ASCII and was mapped from label.
func (c *Converter) appendULabel(label []byte) Violation {
	u := c.text.text
	if len(u) > len(acePrefix) && string(u[:len(acePrefix)]) == acePrefix {
		return Violation{Rule: Punycode}
	}
	if rule, i := checkULabel(u); rule != None {
		return Violation{Rule: rule, Offset: c.source(label, u[i], countRune(u[:i], u[i]))}
	}
	encoded := appendPunycode(append(c.encoded[:0], acePrefix...), u)
	if excess := len(encoded) - LabelMax; excess > 0 {
		return Violation{Rule: Length, Excess: excess}
	}
	c.Domain = c.text.appendTo(c.Domain)
	c.Host = append(c.Host, encoded...)
	return Violation{}
}

// checkULabel checks u, which is in NFC, by RFC 5891 section 4.2.3. It returns
// the rule that u violates and the index of the character, 0 if the whole label
// is wrong.
func checkULabel(u []rune) (rule Rule, i int) {
	switch n := len(u); {
	case u[0] == '-':
		return LeadingHyphen, 0
	case u[n-1] == '-':
		return TrailingHyphen, n - 1
	case n >= 4 && u[2] == '-' && u[3] == '-':
		return InnerHyphens, 2
	case propertiesOf(u[0]).isMark():
		return LeadingMark, 0
	}
	for i, r := range u {
		switch s := propertiesOf(r).status(); {
		case s != pvalid && s != contextJ && s != contextO:
			return Character, i
		case s != pvalid && !contextAllows(u, i):
			return Context, i
		}
	}
	if !keepsBidiRule(u) {
		return Bidi, 0
	}
	return None, 0
}

// source returns the offset in label of the character that was mapped to the
// occurrence of r after the first n; 0 if several characters were composed into
// it. It overwrites c.text.
func (c *Converter) source(label []byte, r rune, n int) int {
	for i := 0; i < len(label); {
		given, size := utf8.DecodeRune(label[i:])
		c.text.reset()
		c.text.addMapped(given)
		if n -= countRune(c.text.text, r); n < 0 {
			return i
		}
		i += size
	}
	return 0
}

func countRune(s []rune, r rune) (n int) {
	for _, c := range s {
		if c == r {
			n++
		}
	}
	return n
}
