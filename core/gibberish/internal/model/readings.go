package model

// Sum returns the sum of the trained weights of name's features, and false if
// name has no Latin letter. If some digits can be read as letters, it returns
// the lower sum of the two readings.
//
// The trainer sums other weights over Readings: taking the weights as an
// argument here makes a check in the module 3 % slower.
func (n *Name) Sum(name []byte) (sum int, ok bool) {
	n.read(name)
	if n.letters == 0 {
		return 0, false
	}
	sum = collector{}.sum(n, 0)
	if leet := n.unleet(); leet > 0 {
		sum = min(sum, collector{}.sum(n, leet))
	}
	return sum, true
}

// Readings appends to dst the features of each reading of name: its digits as
// they are and, if some can be read as letters, as letters. It appends nothing
// if name has no Latin letter.
func Readings(dst [][]uint16, name []byte) [][]uint16 {
	var n Name
	n.read(name)
	if n.letters == 0 {
		return dst
	}
	dst = append(dst, n.list(0))
	if leet := n.unleet(); leet > 0 {
		dst = append(dst, n.list(leet))
	}
	return dst
}

func (n *Name) list(leet int) (indexes []uint16) {
	collector{&indexes}.sum(n, leet)
	return indexes
}
