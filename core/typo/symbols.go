package typo

import keys "github.com/addrspec/addrspec/core/internal/keyboard"

// Symbols of a host name, numbered so that a set of them fits one word:
// letters 0 to 25, digits 26 to 35, hyphen 36, dot 37, anything else 38.
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

func symbol(b byte) uint8 { return symbolOf[b] }

// alike are pairs that sound or look alike and so stand for each other in
// names written from hearing or memory.
const alike = "aeaoauayeiioiyouueeojyjhgjckcsszkqbdbpbvvwfvpfdtlil1i1o0xsmn"

// keyboard tells, for each symbol, which others sit beside it on a keyboard
// and which are like it.
type keyboard struct {
	beside, like [symbols]uint64
}

func newKeyboard() *keyboard {
	k := new(keyboard)
	for _, layout := range []keys.Layout{keys.QWERTY, keys.QWERTZ, keys.AZERTY} {
		layout.Adjacent(func(a, b byte) { join(&k.beside, a, b) })
	}
	for i := 0; i+1 < len(alike); i += 2 {
		join(&k.like, alike[i], alike[i+1])
	}
	return k
}

func join(set *[symbols]uint64, a, b byte) {
	set[symbol(a)] |= 1 << symbol(b)
	set[symbol(b)] |= 1 << symbol(a)
}

func (k *keyboard) areBeside(a, b byte) bool { return k.beside[symbol(a)]>>(symbol(b)&63)&1 != 0 }
func (k *keyboard) areAlike(a, b byte) bool  { return k.like[symbol(a)]>>(symbol(b)&63)&1 != 0 }
