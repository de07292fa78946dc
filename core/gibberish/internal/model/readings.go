package model

// Sum returns the sum of the weights of name's features, and false if name has
// no Latin letter. If some digits can be read as letters, it returns the lower
// sum of the two readings.
func (t *Text) Sum(weights string, name []byte) (sum int, ok bool) {
	t.read(name)
	if t.letters == 0 {
		return 0, false
	}
	sum = t.sum(weights, 0)
	if leet := t.unleet(); leet > 0 {
		sum = min(sum, t.sum(weights, leet))
	}
	return sum, true
}

func (t *Text) sum(weights string, leet int) int {
	f := features{weights: weights}
	f.collect(t, leet)
	return f.sum
}

// Readings appends to dst the features of each reading of name: its digits as
// they are and, if some can be read as letters, as letters. It appends nothing
// if name has no Latin letter.
func Readings(dst [][]uint16, name []byte) [][]uint16 {
	var t Text
	t.read(name)
	if t.letters == 0 {
		return dst
	}
	dst = append(dst, t.list(0))
	if leet := t.unleet(); leet > 0 {
		dst = append(dst, t.list(leet))
	}
	return dst
}

func (t *Text) list(leet int) (indexes []uint16) {
	f := features{list: &indexes}
	f.collect(t, leet)
	return indexes
}
