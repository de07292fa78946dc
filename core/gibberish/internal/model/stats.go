package model

import "math/bits"

// view is what one walk along a name sees of it as a whole; MaxName keeps the
// counts small, and small they are cleared in no time.
type view struct {
	switches   uint8  // changes between letters and digits within a run
	consonants uint8  // length of the longest row of consonants
	vowels     uint8  // how many
	distinct   uint8  // how many different letters
	repeats    uint8  // how many letters repeat what stood two to four before
	oneHanded  uint8  // pairs of letters that one hand types
	stretch    uint8  // how far fingers go from letter to letter on average, 0 to 15
	row        uint8  // symbols of one kind up to here
	consonant  uint8  // consonants up to here
	steps      uint32 // on the keyboard, from letter to letter
	shape      uint32 // hash of the lengths of the rows of letters and digits
	seen       uint32 // set of symbols
}

func (v *view) walk(t *Text) {
	var past uint64 // the symbols up to here, eight bits each
	for _, s := range t.symbol[:t.n] {
		before := uint8(past)
		past = past<<8 | uint64(s)
		v.rows(before, s)
		v.sound(s)
		if step := steps[int(before&31)<<5|int(s&31)]; step != 0 {
			v.steps += step
			if repeats(past) {
				v.repeats++
			}
		}
	}
	v.shape = (v.shape ^ v.shape>>15) * 0x85EBCA77
	v.oneHanded = uint8(v.steps >> oneHandedAt & (1<<(pairsAt-oneHandedAt) - 1))
	v.stretch = uint8(min(4*(v.steps&(1<<oneHandedAt-1))/max(v.steps>>pairsAt, 1), 15))
	v.distinct = uint8(bits.OnesCount32(v.seen & letterSet))
}

// Sets of symbols.
const (
	letterSet = 1<<digit - 1<<1
	vowelSet  = 1<<1 | 1<<5 | 1<<9 | 1<<15 | 1<<21 | 1<<25 // a e i o u y
	hexSet    = 1<<7 - 1<<1                                // a to f
)

func isLetter(s uint8) bool { return letterSet>>(s&31)&1 != 0 }

// kinds tells edges, letters and digits apart: 0, 1 and 2 by symbol.
const kinds = "\x00" + "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" + "\x02"

// rows follows the rows of letters and of digits.
func (v *view) rows(before, s uint8) {
	if kinds[s] != kinds[before] {
		v.shape = (v.shape ^ (uint32(kinds[before])*8 + uint32(lengthClass(int(v.row))))) * 0x9E3779B1
		v.row = 0
		if s != edge && before != edge {
			v.switches++
		}
	}
	v.row++
}

// sound counts vowels and rows of consonants.
func (v *view) sound(s uint8) {
	v.seen |= 1 << (s & 31)
	if vowelSet>>(s&31)&1 != 0 {
		v.vowels++
	}
	if !isLetter(s) || vowelSet>>(s&31)&1 != 0 {
		v.consonant = 0
		return
	}
	v.consonant++
	v.consonants = max(v.consonants, v.consonant)
}

// repeats reports whether the last two symbols are the same as those two,
// three or four places before.
func repeats(past uint64) bool {
	pair := uint16(past)
	return pair == uint16(past>>16) || pair == uint16(past>>24) || pair == uint16(past>>32)
}

// lengthClass maps a length to 0 to 7.
func lengthClass(n int) int {
	switch {
	case n <= 4:
		return n
	case n <= 6:
		return 5
	case n <= 9:
		return 6
	}
	return 7
}
