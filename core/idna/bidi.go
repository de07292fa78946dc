package idna

// keepsBidiRule reports whether label satisfies the six conditions of RFC 5893
// section 2, if it has right-to-left characters. RFC 5891 section 4.2.3.4 does
// not require them of other labels, so 3com.קום is accepted; browsers apply the
// rule to every label of such a name and refuse it.
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
	if !seen[bidiR] && !seen[bidiAN] {
		return true
	}
	return propertiesOf(label[0]).direction() == bidiR && // condition 1; an L would break 5
		!seen[bidiOther] && !seen[bidiL] && // 2
		(last == bidiR || last == bidiEN || last == bidiAN) && // 3
		!(seen[bidiEN] && seen[bidiAN]) // 4
}
