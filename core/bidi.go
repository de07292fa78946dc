package core

// A domain name with any right-to-left label has to keep the Bidi rule in
// every label (RFC 5893 section 2); which of the two holds is known only at
// its end.

// noteBidi notes whether label, at offset, runs right to left, and whether it
// breaks the rule.
func (a *address) noteBidi(label []rune, offset int) {
	for _, r := range label {
		if d := propertiesOf(r).direction(); d == bidiR || d == bidiAN {
			a.rightToLeft = true
		}
	}
	if !keepsBidiRule(label) {
		a.breakBidi(offset)
	}
}

// breakBidi notes the first label that breaks the rule.
func (a *address) breakBidi(offset int) {
	if a.bidiBroken < 0 {
		a.bidiBroken = offset
	}
}

// keepsBidiRule applies the six conditions of the rule.
func keepsBidiRule(label []rune) bool {
	var seen [bidiNeutral + 1]bool
	last := bidiOther // before trailing nonspacing marks
	for _, r := range label {
		d := propertiesOf(r).direction()
		seen[d] = true
		if d != bidiNSM {
			last = d
		}
	}
	switch propertiesOf(label[0]).direction() { // condition 1
	case bidiR:
		return !seen[bidiOther] && !seen[bidiL] && // 2
			(last == bidiR || last == bidiEN || last == bidiAN) && // 3
			!(seen[bidiEN] && seen[bidiAN]) // 4
	case bidiL:
		return !seen[bidiOther] && !seen[bidiR] && !seen[bidiAN] && // 5
			(last == bidiL || last == bidiEN) // 6
	}
	return false
}
