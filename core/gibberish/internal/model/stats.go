package model

import "math/bits"

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
	consonants := n.letters &^ vowels
	st.letters, st.digits, st.vowels = count(n.letters), count(n.digits), count(vowels)
	st.distinct = uint8(bits.OnesCount32(st.seen & letterSet))
	st.longestCluster = longestRun(consonants)
	st.switches = count(n.letters&(n.digits<<1)) + count(n.digits&(n.letters<<1))
	used := n.letters | n.digits
	st.runs = count(used &^ (used << 1))
	st.sounds = countSounds(n.letters, vowels)
	st.scanSegments(n)
	st.countTyping()
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

// count returns the number of positions in set.
func count(set uint64) uint8 { return uint8(bits.OnesCount64(set)) }

// longestRun returns the length of the longest run of consecutive positions in set.
func longestRun(set uint64) (length uint8) {
	for ; set != 0; set &= set << 1 { // each run loses its first position
		length++
	}
	return length
}

// countSounds returns how often a letter is a vowel and the one before it, digits and
// separators ignored, is not, or the reverse. The first one counts if it is a vowel.
func countSounds(letters, vowels uint64) uint8 {
	between := ^letters
	after := vowels << 1 & between // the positions between letters that follow a vowel
	// Adding the first position of a run in between carries through the run.
	after = between &^ (between + after)
	return count(letters & (vowels ^ (vowels|after)<<1))
}

// scanSegments determines shape and longestWord.
func (st *stats) scanSegments(n *Name) {
	shape := uint32(0)
	for i := 0; i < n.length-1; {
		kind, size := n.segment(i & 63)
		if kind == lettersKind {
			st.longestWord = max(st.longestWord, uint8(size))
		}
		shape = (shape ^ (kind*8 + uint32(lengthClass(size)))) * 0x9E3779B1
		i += size
	}
	st.shape = (shape ^ shape>>15) * 0x85EBCA77
}

// The kinds of segments.
const (
	edgeKind = iota
	lettersKind
	digitsKind
)

// segment returns the kind and the length of the segment that begins at position i.
func (n *Name) segment(i int) (kind uint32, size int) {
	switch letters, digits := n.letters>>i, n.digits>>i; {
	case letters&1 != 0:
		return lettersKind, bits.TrailingZeros64(^letters)
	case digits&1 != 0:
		return digitsKind, bits.TrailingZeros64(^digits)
	}
	return edgeKind, 1
}

// countTyping takes the sums of keyPairs apart.
func (st *stats) countTyping() {
	pairs := st.typed(pairsShift)
	st.oneHanded = uint8(st.typed(oneHandedShift))
	st.distance = uint8(min(4*(st.typing&(1<<oneHandedShift-1))/max(pairs, 1), 15))
	st.offRow = st.letters - 1 - uint8(max(st.typed(rightShift), st.typed(leftShift)))
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
