package model

import "math/bits"

// stats are counts over a whole name, collected in one pass. MaxName bounds
// them, so bytes are enough and the struct is small to clear.
type stats struct {
	switches       uint8  // changes between letters and digits within a run
	longestCluster uint8  // consonants in the longest cluster
	vowels         uint8  // y among them
	distinct       uint8  // different letters
	repeats        uint8  // pairs of letters that also occur two to four symbols before
	oneHanded      uint8  // pairs of letters typed by one hand
	distance       uint8  // average distance of consecutive letters in quarters of a key, at most 15
	offRow         uint8  // letters but the first that are no step along a keyboard row, in the more frequent direction
	segment        uint8  // symbols in the current segment, which is all letters, all digits or an edge
	cluster        uint8  // consonants in the current cluster
	runs           uint8  // runs of letters and digits between separators
	sounds         uint8  // changes between vowels and consonants
	longestWord    uint8  // letters in the longest segment of letters
	vowel          uint8  // 1 if the last letter was a vowel, 0 if not
	typing         uint64 // sums of keyPairs
	shape          uint32 // hash of the kinds and lengths of the segments
	seen           uint32 // set of symbols
}

func (st *stats) scan(n *Name) {
	var past uint64 // the symbols so far, eight bits each
	for _, s := range n.symbol[:n.length] {
		before := uint8(past)
		past = past<<8 | uint64(s)
		st.countSegment(before, s)
		st.countSound(s)
		if pair := keyPairs[int(before&31)<<5|int(s&31)]; pair != 0 {
			st.typing += pair
			if repeats(past) {
				st.repeats++
			}
		}
	}
	st.shape = (st.shape ^ st.shape>>15) * 0x85EBCA77
	st.countTyping(n.letters)
	st.distinct = uint8(bits.OnesCount32(st.seen & letterSet))
}

// countTyping takes the sums of keyPairs apart.
func (st *stats) countTyping(letters int) {
	pairs := st.typed(pairsShift)
	st.oneHanded = uint8(st.typed(oneHandedShift))
	st.distance = uint8(min(4*(st.typing&(1<<oneHandedShift-1))/max(pairs, 1), 15))
	st.offRow = uint8(letters - 1 - int(max(st.typed(rightShift), st.typed(leftShift))))
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

// kinds maps the edge to 0, letters to 1 and digits to 2.
const kinds = "\x00" + "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" + "\x02"

// countSegment counts s, and if it begins a segment, adds the previous one to
// shape.
func (st *stats) countSegment(before, s uint8) {
	if kinds[s] != kinds[before] {
		st.shape = (st.shape ^ (uint32(kinds[before])*8 + uint32(lengthClass(int(st.segment))))) * 0x9E3779B1
		if isLetter(before) {
			st.longestWord = max(st.longestWord, st.segment)
		}
		if s == edge {
			st.runs++
		}
		st.segment = 0
		if s != edge && before != edge {
			st.switches++
		}
	}
	st.segment++
}

// countSound counts vowels and clusters of consonants.
func (st *stats) countSound(s uint8) {
	st.seen |= 1 << (s & 31)
	vowel := uint8(uint32(vowelSet) >> (s & 31) & 1)
	st.vowels += vowel
	if isLetter(s) {
		st.sounds += vowel ^ st.vowel
		st.vowel = vowel
	}
	if !isLetter(s) || vowel != 0 {
		st.cluster = 0
		return
	}
	st.cluster++
	st.longestCluster = max(st.longestCluster, st.cluster)
}

// repeats reports whether the last two symbols also occur two, three or four
// symbols before.
func repeats(past uint64) bool {
	pair := uint16(past)
	return pair == uint16(past>>16) || pair == uint16(past>>24) || pair == uint16(past>>32)
}
