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
// 1 hex, 2 base32, 3 hex without a digit, 0 neither. Letters and digits of an
// encoded string change at least twice: b19850411 and 20000000f are numbers.
func (n *Name) encoding(st *stats) int {
	hex := st.seen&letterSet&^hexSet == 0
	switch {
	case n.digits == 0 && hex:
		return 3
	case st.switches < 2:
		return 0
	case hex:
		return 1
	case n.base32Digits():
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

// The kinds of numbers. People choose most of theirs; programs draw them.
const (
	anyNumber = iota
	year
	date
	sequence // 123, 321
	repeated // 77, 000
	zeroFirst
	zerosLast // 100, 2000
)

// numberKind returns the kind of the number in symbols i to end-1.
func (n *Name) numberKind(i, end int) int {
	v := n.value[i:end]
	up, down, same := 0, 0, 0
	for k := 1; k < len(v); k++ {
		switch v[k] - v[k-1] {
		case 1:
			up++
		case 0:
			same++
		case 0xFF:
			down++
		}
	}
	steps := len(v) - 1
	switch {
	case len(v) == 4 && n.isYear(i):
		return year
	case (len(v) == 6 || len(v) == 8) && n.isDate(i, end):
		return date
	case steps > 0 && same == steps:
		return repeated
	case steps > 1 && (up == steps || down == steps):
		return sequence
	case v[0] == 0:
		return zeroFirst
	case len(v) > 2 && v[steps] == 0 && v[steps-1] == 0:
		return zerosLast
	}
	return anyNumber
}

// isDate reports whether six or eight digits are a date: year, month and day or
// the reverse, the year of two or four digits.
func (n *Name) isDate(i, end int) bool {
	century := end - i - 6 // digits before the last two of the year
	first := century == 0 || n.isYear(i)
	last := century == 0 || n.isYear(end-4)
	return first && n.isDayMonth(i+2+century, i+4+century) || last && (n.isDayMonth(i, i+2) || n.isDayMonth(i+2, i))
}

// isDayMonth reports whether the two digits at month are one of twelve and those
// at day one of 31.
func (n *Name) isDayMonth(month, day int) bool {
	m, d := n.value[month]*10+n.value[month+1], n.value[day]*10+n.value[day+1]
	return m >= 1 && m <= 12 && d >= 1 && d <= 31
}
