package model

// ending classifies how the name ends: 0 in a letter, 1 to 4 in that many
// digits, 5 in more digits, 6 in a year. It returns 7 for any name that starts
// with a digit.
func (n *Name) ending() int {
	if n.symbol[0] == digit {
		return 7
	}
	end := n.length - 1 // the edge
	count := 0
	for count < end && n.symbol[end-count-1] == digit {
		count++
	}
	if count == 4 && n.isYear(end-4) {
		return 6
	}
	return min(count, 5)
}

// isYear reports whether the four digits at i are a year from 1900 to 2039.
func (n *Name) isYear(i int) bool {
	century := n.value[i]*10 + n.value[i+1]
	return century == 19 || century == 20 && n.value[i+2] <= 3
}

// encoding classifies the alphabet that the letters and digits are drawn from:
// 1 hex, 2 base32, 3 hex without a digit, 0 neither. seen is the set of symbols
// in the name.
func (n *Name) encoding(seen uint32) int {
	hex := seen&letterSet&^hexSet == 0
	switch {
	case hex && n.digits == 0:
		return 3
	case hex:
		return 1
	case n.digits > 0 && n.base32Digits():
		return 2
	}
	return 0
}

// base32Digits reports whether every digit is 2 to 7 (RFC 4648 section 6).
func (n *Name) base32Digits() bool {
	for i, s := range n.symbol[:n.length] {
		if s == digit && (n.value[i] < 2 || n.value[i] > 7) {
			return false
		}
	}
	return true
}
