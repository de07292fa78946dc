package model

import (
	"math/bits"

	"github.com/addrspec/addrspec/core/internal/keyboard"
)

// stats are counts over a whole name. MaxName bounds them, so bytes are enough and the
// struct is small to clear.
//
// Most come from sets of positions: counted symbol by symbol they took 991 instructions
// for each of four usual addresses, now 641 (callgrind).
type stats struct {
	switches       uint8 // changes between letters and digits within a run
	longestCluster uint8 // consonants in the longest cluster
	vowels         uint8 // y among them
	distinct       uint8 // different letters
	repeats        uint8 // pairs of letters that also occur two to four symbols before
	oneHanded      uint8 // pairs of letters typed by one hand
	distance       uint8 // average distance of consecutive letters in quarters of a key, at most 15
	offRow         uint8 // letters but the first that are no step along a keyboard row, in the more frequent direction
	runs           uint8 // runs of letters and digits between separators
	sounds         uint8 // changes between vowels and consonants
	longestWord    uint8 // letters in the longest segment, which is all letters or all digits
	letters        uint8 // Latin letters
	digits         uint8
	typing         uint64 // sums of keyPairs
	shape          uint32 // hash of the kinds and lengths of the segments and of the edges between them
	seen           uint32 // set of symbols
}

func (st *stats) scan(n *Name) {
	vowels := st.scanPairs(n)
	st.letters, st.digits, st.vowels = count(n.letters), count(n.digits), count(vowels)
	st.distinct = uint8(bits.OnesCount32(st.seen & letterSet))
	for cluster := n.letters &^ vowels; cluster != 0; cluster &= cluster << 1 { // each run loses its first position
		st.longestCluster++
	}
	st.switches = count(n.letters&(n.digits<<1)) + count(n.digits&(n.letters<<1))
	used := n.letters | n.digits
	st.runs = count(used &^ (used << 1))

	// A sound is a letter that is a vowel while the one before it, digits and separators
	// ignored, is not, or the reverse. The first one counts if it is a vowel.
	between := ^n.letters
	after := vowels << 1 & between // the positions between letters that follow a vowel
	// Adding the first position of a run in between carries through the run.
	after = between &^ (between + after)
	st.sounds = count(n.letters & (vowels ^ (vowels|after)<<1))

	st.scanSegments(n)
	pairs := st.typed(pairsShift)
	st.oneHanded = uint8(st.typed(oneHandedShift))
	st.distance = uint8(min(4*(st.typing&(1<<oneHandedShift-1))/max(pairs, 1), 15))
	st.offRow = st.letters - 1 - uint8(max(st.typed(rightShift), st.typed(leftShift)))
}

// scanPairs collects what depends on pairs of symbols, and returns where the vowels
// are. It leaves out the last edge, which has no effect, so at most 64 symbols remain.
func (st *stats) scanPairs(n *Name) (vowels uint64) {
	symbols := n.symbol[:n.length-1]
	var past, typing uint64 // the symbols so far, eight bits each
	var seen uint32
	for _, s := range symbols {
		pair := keyPairs[past&31<<5|uint64(s&31)]
		past = past<<8 | uint64(s)
		typing += pair
		if repeats(past) && pair != 0 {
			st.repeats++
		}
		seen |= 1 << (s & 31)
		vowels = vowels>>1 | uint64(vowelSet>>(s&31))<<63 // the last symbol is in the high bit
	}
	st.typing, st.seen = typing, seen
	return vowels >> (64 - len(symbols))
}

func count(set uint64) uint8 { return uint8(bits.OnesCount64(set)) }

func (st *stats) scanSegments(n *Name) {
	shape := uint32(0)
	for i := 0; i < n.length-1; {
		kind, size := uint32(0), 1 // an edge
		switch letters, digits := n.letters>>(i&63), n.digits>>(i&63); {
		case letters&1 != 0:
			kind, size = 1, bits.TrailingZeros64(^letters)
			st.longestWord = max(st.longestWord, uint8(size))
		case digits&1 != 0:
			kind, size = 2, bits.TrailingZeros64(^digits)
		}
		shape = (shape ^ (kind*8 + uint32(lengthClass(size)))) * 0x9E3779B1
		i += size
	}
	st.shape = (shape ^ shape>>15) * 0x85EBCA77
}

// typed returns the count at a bit position of typing.
func (st *stats) typed(shift uint) uint64 { return st.typing >> shift & (1<<countBits - 1) }

// Sets of symbols.
const (
	letterSet = 1<<digit - 1<<1
	vowelSet  = 1<<1 | 1<<5 | 1<<9 | 1<<15 | 1<<21 | 1<<25 // a e i o u y
	hexSet    = 1<<7 - 1<<1                                // a to f
)

func isLetter(s uint8) bool { return letterSet>>(s&31)&1 != 0 }

// repeats reports whether the last two symbols also occur two, three or four
// symbols before.
func repeats(past uint64) bool {
	pair := uint16(past)
	return pair == uint16(past>>16) || pair == uint16(past>>24) || pair == uint16(past>>32)
}

// keyPairs has what each pair of letters adds to stats.typing: five sums packed into one
// word. The first letter is bits 5 to 9 of the index. A pair with any other symbol adds 0.
// Distances are those on QWERTY: other layouts move few letters. Steps along a row are
// those of QWERTY, QWERTZ and AZERTY.
var keyPairs = func() (table [1 << 10]uint64) {
	var steps [1 << 10]uint64 // 1 for letters side by side, the left one first
	for _, layout := range []*keyboard.Layout{&keyboard.QWERTY, &keyboard.QWERTZ, &keyboard.AZERTY} {
		for _, keys := range layout.LetterRows() {
			for i := range len(keys) - 1 {
				steps[int(keys[i]-'a'+1)<<5|int(keys[i+1]-'a'+1)] = 1
			}
		}
	}
	var row, column [digit]int
	for r, keys := range keyboard.QWERTY.LetterRows() {
		for c := range keys {
			s := keys[c] - 'a' + 1
			row[s], column[s] = r, c
		}
	}
	for a := 1; a < digit; a++ {
		for b := 1; b < digit; b++ {
			across, down := column[a]-column[b], row[a]-row[b]
			pair := uint64(max(across, -across, down, -down)) + 1<<pairsShift + steps[a<<5|b]<<rightShift + steps[b<<5|a]<<leftShift
			if column[a] < keyboard.LeftHand == (column[b] < keyboard.LeftHand) {
				pair += 1 << oneHandedShift
			}
			table[a<<5|b] = pair
		}
	}
	return table
}()

// Bit positions of the sums in stats.typing: distances in keys (less than nine
// times MaxName) from bit 0, then pairs typed by one hand, all pairs, and steps
// to the right and to the left along a row.
const (
	oneHandedShift = 10
	pairsShift     = oneHandedShift + countBits
	rightShift     = pairsShift + countBits
	leftShift      = rightShift + countBits

	countBits = 7 // MaxName fits
)

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
	}
	for i, s := range n.symbol[:n.length] {
		if s == digit && (n.value[i] < 2 || n.value[i] > 7) { // no base32 (RFC 4648 section 6)
			return 0
		}
	}
	return 2
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
	if len(v) == 6 || len(v) == 8 { // a year of two or four digits, month and day, or the reverse
		century := len(v) - 6 // digits before the last two of the year
		first, last := century == 0 || n.isYear(i), century == 0 || n.isYear(end-4)
		if first && n.isDayMonth(i+2+century, i+4+century) || last && (n.isDayMonth(i, i+2) || n.isDayMonth(i+2, i)) {
			return date
		}
	}
	steps := len(v) - 1
	switch {
	case len(v) == 4 && n.isYear(i):
		return year
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

func (n *Name) isDayMonth(month, day int) bool {
	m, d := n.value[month]*10+n.value[month+1], n.value[day]*10+n.value[day+1]
	return m >= 1 && m <= 12 && d >= 1 && d <= 31
}
