package idna

import "slices"

// isALabel reports whether label, which has the prefix in lower case, is an
// A-label by RFC 5891 section 4.2.1: the encoding of a valid U-label, and the
// very one that the encoder produces.
func (c *Converter) isALabel(label []byte) bool {
	u, ok := appendDecoded(c.decoded[:0], label[len(acePrefix):])
	if !ok || !c.roundTrips(u, label) {
		return false
	}
	rule, _ := checkULabel(u)
	return rule == None
}

// roundTrips reports whether u has characters beyond ASCII, is in NFC and
// encodes as label.
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
