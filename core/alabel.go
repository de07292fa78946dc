package core

// checkALabel holds label, lower case with its prefix, to RFC 5891 section
// 4.2.1: it encodes a valid U-label, and just as the encoder would.
func (a *address) checkALabel(label []byte, offset int) Refusal {
	u, ok := appendDecoded(a.decoded[:0], label[len(acePrefix):])
	if !ok || !a.roundTrips(u, label) {
		return Refusal{Reason: labelPunycode, Offset: offset}
	}
	if why, _ := checkULabel(u); why != Accepted {
		return Refusal{Reason: labelPunycode, Offset: offset}
	}
	return Refusal{}
}

// roundTrips reports whether u has characters beyond ASCII, is in NFC and
// encodes as label.
func (a *address) roundTrips(u []rune, label []byte) bool {
	a.work.reset()
	for _, r := range u {
		a.work.addDecomposed(r, keepCase)
	}
	a.work.compose()
	if a.work.isASCII() || !sameRunes(a.work.all(), u) {
		return false
	}
	encoded := appendPunycode(append(a.encoded[:0], acePrefix...), u)
	return string(encoded) == string(label)
}

func sameRunes(a, b []rune) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
