package typo

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

// A keyboard is its rows from top to bottom; each row stands half a key to the
// right of the row above, so key i touches keys i-1 and i below it.
var layouts = [...][4]string{
	{"1234567890-", "qwertyuiop", "asdfghjkl", "zxcvbnm-."},
	{"1234567890", "qwertzuiop", "asdfghjkl", "yxcvbnm-."},
	{"1234567890", "azertyuiop", "qsdfghjklm", "wxcvbn.-"},
}

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
	for _, rows := range layouts {
		for r, row := range rows {
			for i := range row {
				k.besides(rows[:], r, i)
			}
		}
	}
	for i := 0; i+1 < len(alike); i += 2 {
		join(&k.like, alike[i], alike[i+1])
	}
	return k
}

// besides joins key i of row r with the next key and the keys it touches below.
func (k *keyboard) besides(rows []string, r, i int) {
	if i+1 < len(rows[r]) {
		join(&k.beside, rows[r][i], rows[r][i+1])
	}
	if r+1 == len(rows) {
		return
	}
	for _, below := range [2]int{i - 1, i} {
		if below >= 0 && below < len(rows[r+1]) {
			join(&k.beside, rows[r][i], rows[r+1][below])
		}
	}
}

func join(set *[symbols]uint64, a, b byte) {
	set[symbol(a)] |= 1 << symbol(b)
	set[symbol(b)] |= 1 << symbol(a)
}

func (k *keyboard) areBeside(a, b byte) bool { return k.beside[symbol(a)]>>(symbol(b)&63)&1 != 0 }
func (k *keyboard) areAlike(a, b byte) bool  { return k.like[symbol(a)]>>(symbol(b)&63)&1 != 0 }
