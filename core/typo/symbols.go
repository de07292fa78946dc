package typo

import "github.com/addrspec/addrspec/core/internal/keyboard"

// The symbols of a host name are numbered so that a set of them fits in one
// word: letters 0 to 25, digits 26 to 35, hyphen 36, dot 37, any other byte 38.
const symbols = 39

var symbolOf = func() (table [256]uint8) {
	for b := range table {
		table[b] = symbols - 1
	}
	for i, b := range []byte("abcdefghijklmnopqrstuvwxyz0123456789-.") {
		table[b] = uint8(i)
	}
	return table
}()

const dotSymbol = uint64(1) << 37

func symbol(b byte) uint8 { return symbolOf[b] }

// symbolSet returns the set of symbols in s.
func symbolSet(s []byte) (set uint64) {
	for _, b := range s {
		set |= 1 << (symbol(b) & 63)
	}
	return set
}

// alikePairs are pairs of letters that sound or look alike, so that one
// replaces the other in names written from hearing or from memory.
const alikePairs = "aeaoauayeiioiyouueeojyjhgjckcsszkqbdbpbvvwfvpfdtlil1i1o0xsmn"

// confusion has, for each symbol, the set of symbols on adjacent keys, of those
// beside it in the middle row of letters, which all layouts share, and of those
// that sound or look alike.
type confusion struct {
	adjacent, beside, alike [symbols]uint64
}

func newConfusion() *confusion {
	c := new(confusion)
	for _, layout := range []keyboard.Layout{keyboard.QWERTY, keyboard.QWERTZ, keyboard.AZERTY} {
		layout.Adjacent(func(a, b byte) { join(&c.adjacent, a, b) })
	}
	middle := keyboard.QWERTY.LetterRows()[1]
	for i := range len(middle) - 1 {
		join(&c.beside, middle[i], middle[i+1])
	}
	for i := 0; i+1 < len(alikePairs); i += 2 {
		join(&c.alike, alikePairs[i], alikePairs[i+1])
	}
	return c
}

func join(sets *[symbols]uint64, a, b byte) {
	sets[symbol(a)] |= 1 << symbol(b)
	sets[symbol(b)] |= 1 << symbol(a)
}

func (c *confusion) areAdjacent(a, b byte) bool { return c.adjacent[symbol(a)]>>(symbol(b)&63)&1 != 0 }
func (c *confusion) isBeside(a, b byte) bool    { return c.beside[symbol(a)]>>(symbol(b)&63)&1 != 0 }
func (c *confusion) areAlike(a, b byte) bool    { return c.alike[symbol(a)]>>(symbol(b)&63)&1 != 0 }
