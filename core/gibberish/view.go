package gibberish

import "math/bits"

// view is what one pass sees of a name as a whole.
type view struct {
	switches   int    // changes between letters and digits within a run
	tail       int    // how it ends: 0 letters, 1 to 4 so many digits, 5 more, 6 a year; 7 starts with a digit
	consonants int    // longest run of consonants
	vowels     int    // how many
	neighbours int    // pairs of letters that lie side by side on a keyboard, or are the same
	repeats    int    // how many symbols stand in a chunk that is repeated at once
	alphabet   int    // 1 hex with digits, 2 base32 with digits, 3 hex letters only, 0 anything else
	distinct   int    // how many letters
	shape      uint32 // hash of the lengths of the runs of letters and digits
}

const (
	vowelSet = 1<<1 | 1<<5 | 1<<9 | 1<<15 | 1<<21 | 1<<25 // a e i o u y
	hexSet   = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6
)

func (t *text) view() view {
	var v view
	var seen uint32
	run, consonants := 0, 0
	before := uint8(edge)
	for i, s := range t.symbol[:t.n] {
		if kind(s) != kind(before) {
			v.shape = (v.shape ^ uint32(kind(before)*8+lengthClass(run))) * 0x9E3779B1
			if s != edge && before != edge {
				v.switches++
			}
			run = 0
		}
		run++
		seen |= 1 << s
		switch {
		case s == edge || s == digit:
			consonants = 0
		case vowelSet>>s&1 != 0:
			consonants = 0
			v.vowels++
		default:
			consonants++
			v.consonants = max(v.consonants, consonants)
		}
		v.neighbours += int(besides[before] >> s & 1)
		v.repeats += t.repeated(i)
		before = s
	}
	v.shape = (v.shape ^ v.shape>>15) * 0x85EBCA77
	v.tail = t.tail()
	v.alphabet = t.alphabet(seen)
	v.distinct = bits.OnesCount32(seen & 0x7FFFFFE)
	return v
}

// kind tells edges, letters and digits apart.
func kind(s uint8) int {
	switch s {
	case edge:
		return 0
	case digit:
		return 2
	}
	return 1
}

// repeated is 1 where symbol i and the one before are the same as those two,
// three or four places before.
func (t *text) repeated(i int) int {
	s := &t.symbol
	if i < 3 || s[i] == edge || s[i] == digit {
		return 0
	}
	if s[i] == s[i-2] && s[i-1] == s[i-3] || i >= 4 && s[i] == s[i-3] && s[i-1] == s[i-4] ||
		i >= 5 && s[i] == s[i-4] && s[i-1] == s[i-5] {
		return 1
	}
	return 0
}

// tail classes how the name ends, or that it starts with a digit.
func (t *text) tail() int {
	if t.n > 0 && t.symbol[0] == digit {
		return 7
	}
	end := t.n - 1 // the edge
	run := 0
	for end-run > 0 && t.symbol[end-run-1] == digit {
		run++
	}
	if run == 4 && t.isYear(end-4) {
		return 6
	}
	return min(run, 5)
}

// isYear reports whether the four digits at i are a year people live in.
func (t *text) isYear(i int) bool {
	century := t.value[i]*10 + t.value[i+1]
	return century == 19 || century == 20 && t.value[i+2] <= 3
}

// alphabet tells whether every letter and digit is one that a common
// encoding of bytes writes.
func (t *text) alphabet(seen uint32) int {
	letters := seen & 0x7FFFFFE
	switch {
	case letters&^hexSet == 0 && t.digits > 0:
		return 1
	case letters&^hexSet == 0:
		return 3
	case t.digits > 0 && t.base32Digits():
		return 2
	}
	return 0
}

func (t *text) base32Digits() bool {
	for i, s := range t.symbol[:t.n] {
		if s == digit && (t.value[i] < 2 || t.value[i] > 7) {
			return false
		}
	}
	return true
}

// besides has, for each symbol, the set of symbols on the same or a touching
// key of a QWERTY keyboard.
var besides = neighbours()

func neighbours() (sets [symbols]uint32) {
	rows := [3]string{"qwertyuiop", "asdfghjkl", "zxcvbnm"}
	for y, row := range rows {
		for x := range row {
			a := row[x] - 'a' + 1
			sets[a] |= 1 << a
			for _, at := range [][2]int{{y, x + 1}, {y + 1, x - 1}, {y + 1, x}} {
				if at[0] > 2 || at[1] < 0 || at[1] >= len(rows[at[0]]) {
					continue
				}
				b := rows[at[0]][at[1]] - 'a' + 1
				sets[a] |= 1 << b
				sets[b] |= 1 << a
			}
		}
	}
	return sets
}
