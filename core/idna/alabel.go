package idna

import "slices"

// isALabel reports whether label, in lower case and with the prefix, is an
// A-label by RFC 5891 section 4.2.1: it must decode to a valid U-label that
// encodes to label again.
func (c *Converter) isALabel(label []byte) bool {
	u, ok := appendDecoded(c.decoded[:0], label[len(acePrefix):])
	if !ok || !c.roundTrips(u, label) {
		return false
	}
	rule, _ := checkULabel(u)
	return rule == None
}

// roundTrips reports whether u has characters beyond ASCII, is in NFC and
// encodes to label.
func (c *Converter) roundTrips(u []rune, label []byte) bool {
	c.text.reset()
	for _, r := range u {
		c.text.addDecomposed(r, keepCase)
	}
	c.text.compose()
	if c.text.isASCII() || !slices.Equal(c.text.text, u) {
		return false
	}
	encoded := appendPunycode(append(c.encoded[:0], acePrefix...), u)
	return string(encoded) == string(label)
}
