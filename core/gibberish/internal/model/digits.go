package model

// tail classes how a name ends: 0 in a letter, 1 to 4 in so many digits, 5 in
// more, 6 in a year; or 7, that it starts with a digit.
func (t *Text) tail() int {
	if t.symbol[0] == digit {
		return 7
	}
	end := t.n - 1 // the edge
	run := 0
	for run < end && t.symbol[end-run-1] == digit {
		run++
	}
	if run == 4 && t.isYear(end-4) {
		return 6
	}
	return min(run, 5)
}

// isYear reports whether the four digits at i are a year that people who
// write mail were born in or lived in.
func (t *Text) isYear(i int) bool {
	century := t.value[i]*10 + t.value[i+1]
	return century == 19 || century == 20 && t.value[i+2] <= 3
}

// encoding tells whether all letters and digits, of which seen is the set,
// are ones that a common encoding of bytes writes: 1 hex, 2 base32, 3 hex
// without a digit, 0 neither.
func (t *Text) encoding(seen uint32) int {
	hex := seen&letterSet&^hexSet == 0
	switch {
	case hex && t.digits == 0:
		return 3
	case hex:
		return 1
	case t.digits > 0 && t.base32Digits():
		return 2
	}
	return 0
}

// base32Digits reports whether every digit is 2 to 7 (RFC 4648 section 6).
func (t *Text) base32Digits() bool {
	for i, s := range t.symbol[:t.n] {
		if s == digit && (t.value[i] < 2 || t.value[i] > 7) {
			return false
		}
	}
	return true
}
