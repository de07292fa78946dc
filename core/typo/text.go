package typo

import (
	"bytes"
	"math/bits"
)

// letterSet is the set of symbols in s.
func letterSet(s []byte) (set uint64) {
	for _, b := range s {
		set |= 1 << (symbol(b) & 63)
	}
	return set
}

// leastCost is the least that slips between two names of these letters cost:
// a letter that only one of them has took a slip of its own, and a slip mends
// one letter of each at most.
func leastCost(typed, meant uint64) int {
	return costBeside * max(bits.OnesCount64(typed&^meant), bits.OnesCount64(meant&^typed))
}

// stockWords are what names of mail services are made of.
var stockWords = [...][]byte{1: []byte("mail"), 2: []byte("cloud")}

const noStockWord = 0

// stockWordIn returns which stock word is in name, and how many letters are
// beside it.
func stockWordIn(name []byte) (word uint8, rest int) {
	for i := 1; i < len(stockWords); i++ {
		if bytes.Contains(name, stockWords[i]) {
			return uint8(i), len(name) - len(stockWords[i])
		}
	}
	return noStockWord, len(name)
}

// withoutFront cuts "www" or two or more digits off the front of name; nil
// where there are none.
func withoutFront(name []byte) []byte {
	if rest, found := bytes.CutPrefix(name, www[:3]); found {
		return rest
	}
	digits := 0
	for digits < len(name) && name[digits] >= '0' && name[digits] <= '9' {
		digits++
	}
	if digits < 2 {
		return nil
	}
	return name[digits:]
}

// once returns the half of a name written twice; nil for another.
func once(name []byte) []byte {
	half := len(name) / 2
	if len(name)%2 != 0 || !bytes.Equal(name[:half], name[half:]) {
		return nil
	}
	return name[:half]
}

// equalButDots reports whether a and b are the same once every dot is dropped,
// and a has no more of them, or one in place of a hyphen.
func equalButDots(a, b []byte) bool {
	i, j, dots := 0, 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == '.' && b[j] == '-':
			i, j = i+1, j+1
		case i < len(a) && a[i] == '.':
			i, dots = i+1, dots+1
		case j < len(b) && b[j] == '.':
			j, dots = j+1, dots-1
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		default:
			return false
		}
	}
	return dots <= 0
}
