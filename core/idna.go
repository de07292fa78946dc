package core

import "unicode/utf8"

// Internationalized labels: mapped by UTS #46 (non-transitional, STD3 rules),
// put into NFC, then held to IDNA2008 (RFC 5891 section 4.2).

// mapLabel puts label, mapped and in NFC, into a.work.
func (a *address) mapLabel(label []byte, offset int) Refusal {
	a.work.reset()
	for i := 0; i < len(label); {
		r, size := utf8.DecodeRune(label[i:])
		if !a.work.addMapped(r) {
			return Refusal{Reason: domainCharacter, Offset: offset + i}
		}
		i += size
	}
	a.work.compose()
	if a.work.length == 0 {
		return Refusal{Reason: domainCharacter, Offset: offset}
	}
	return Refusal{}
}

// addMapped adds what r maps to and reports whether it is allowed.
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

// addMapping adds what UTS #46 maps r to: what the tables say or, where they
// are silent, its lower case.
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

// takeULabel takes the label in a.work, which has characters beyond ASCII.
// written is what it was mapped from, at offset.
func (a *address) takeULabel(written []byte, offset int) Refusal {
	u := a.work.all()
	if len(u) > len(acePrefix) && string(u[:len(acePrefix)]) == acePrefix {
		return Refusal{Reason: labelPunycode, Offset: offset}
	}
	if why, at := checkULabel(u); why != Accepted {
		return Refusal{Reason: why, Offset: offset + a.source(written, u[at], countRune(u[:at], u[at]))}
	}
	encoded := appendPunycode(append(a.encoded[:0], acePrefix...), u)
	if excess := len(encoded) - labelMax; excess > 0 {
		return Refusal{labelTooLong, offset, excess}
	}
	a.domain = a.work.appendTo(a.domain)
	a.host = append(a.host, encoded...)
	return Refusal{}
}

// checkULabel holds u, in NFC, to RFC 5891 section 4.2.3. It returns the place
// of the character that is wrong, 0 where it is the whole label.
func checkULabel(u []rune) (why Reason, at int) {
	switch n := len(u); {
	case u[0] == '-':
		return labelStartsWithHyphen, 0
	case u[n-1] == '-':
		return labelEndsWithHyphen, n - 1
	case n >= 4 && u[2] == '-' && u[3] == '-':
		return labelHyphens, 2
	case propertiesOf(u[0]).isMark():
		return labelStartsWithMark, 0
	}
	for i, r := range u {
		switch s := propertiesOf(r).status(); {
		case s != pvalid && s != contextJ && s != contextO:
			return domainCharacter, i
		case s != pvalid && !contextAllows(u, i):
			return labelContext, i
		}
	}
	if !keepsBidiRule(u) {
		return labelBidi, 0
	}
	return Accepted, 0
}

// source returns where in written the character r comes from that has so many
// like it before it; 0 if it was composed of several. It uses a.work.
func (a *address) source(written []byte, r rune, before int) int {
	for i := 0; i < len(written); {
		c, size := utf8.DecodeRune(written[i:])
		a.work.reset()
		a.work.addMapped(c)
		if before -= countRune(a.work.all(), r); before < 0 {
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
