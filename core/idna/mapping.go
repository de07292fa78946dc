package idna

import (
	"sort"
	"unicode/utf8"
)

// mapLabel sets c.text to label, mapped by UTS #46 and in NFC.
func (c *Converter) mapLabel(label []byte) Violation {
	c.text.reset()
	for i := 0; i < len(label); {
		r, size := utf8.DecodeRune(label[i:])
		if !c.text.addMapped(r) {
			return Violation{Rule: Character, Offset: i}
		}
		i += size
	}
	c.text.compose()
	if len(c.text.text) == 0 {
		return Violation{Rule: Character}
	}
	return Violation{}
}

// addMapped adds the mapping of r and reports whether r is allowed. A jamo is disallowed
// alone, but a label is judged in NFC, which composes jamo to syllables.
func (t *runes) addMapped(r rune) bool {
	if r < utf8.RuneSelf {
		t.add(lowerRune(r))
		return true
	}
	switch propertiesOf(r).status() {
	case disallowed:
		if !isJamo(r) {
			return false
		}
		t.add(r)
	case mapped:
		t.addMapping(r)
	case ignored:
	default:
		t.addDecomposed(r, keepCase)
	}
	return true
}

// addMapping adds the mapping of r by UTS #46: the one in the tables or, if they
// have none, the lower case of r.
func (t *runes) addMapping(r rune) {
	if to := mappedString(r); to != "" {
		for _, m := range to {
			t.addDecomposed(m, keepCase)
		}
		return
	}
	if m := mapRune(mappedRanges[:], r); m != r {
		t.addDecomposed(m, keepCase)
		return
	}
	t.addDecomposed(r, lowerCase)
}

// Unicode Normalization Form C (UAX #15).

// runesMax bounds the number of characters that a label of 253 bytes is mapped
// to or a local part of 64 bytes is decomposed into, as a test proves.
const runesMax = 512

// runes is a label or local part being normalized.
type runes struct {
	text  []rune // in array, or on the heap if that is too small
	array [runesMax]rune
}

func (t *runes) reset() { t.text = t.array[:0] }

func (t *runes) add(r rune) { t.text = append(t.text, r) }

// isASCII reports whether every character is ASCII.
func (t *runes) isASCII() bool {
	for _, r := range t.text {
		if r >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendTo appends the characters to dst in UTF-8.
func (t *runes) appendTo(dst []byte) []byte {
	for _, r := range t.text {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// AppendLowerNFC appends s to dst in lower case and NFC. It applies the simple
// lower-case mapping to each character of the canonical decomposition. dst may
// overlap s.
func (c *Converter) AppendLowerNFC(dst, s []byte) []byte {
	c.text.reset()
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRune(s[i:])
		c.text.addDecomposed(r, lowerCase)
		i += size
	}
	c.text.compose()
	return c.text.appendTo(dst)
}

// decomposition is one step of the canonical decomposition of composed; second
// is 0 if first replaces it alone.
type decomposition struct{ composed, first, second rune }

// Whether decomposing keeps the case.
const (
	keepCase  = false
	lowerCase = true
)

// addDecomposed adds the canonical decomposition of r in canonical order, and in
// lower case if lowered is set.
func (t *runes) addDecomposed(r rune, lowered bool) {
	if hangulBase <= r && r < hangulEnd {
		t.addHangul(r)
		return
	}
	if d := decompositionOf(r); d != nil {
		t.addDecomposed(d.first, lowered)
		if d.second != 0 {
			t.addDecomposed(d.second, lowered)
		}
		return
	}
	if lowered {
		r = lowerRune(r)
	}
	t.add(r)
	t.reorder()
}

// reorder moves the last character before those of a higher combining class
// (Unicode section 3.11, canonical ordering).
func (t *runes) reorder() {
	s := t.text
	i := len(s) - 1
	if s[i] < firstMark {
		return
	}
	class := propertiesOf(s[i]).class()
	if class == 0 {
		return
	}
	for ; i > 0 && propertiesOf(s[i-1]).class() > class; i-- {
		s[i-1], s[i] = s[i], s[i-1]
	}
}

// firstMark is the first character with a combining class, and the first that composes
// with one before it. Most characters are before it, so they need no table.
const firstMark = 0x300

// compose applies canonical composition (Unicode section 3.11).
func (t *runes) compose() {
	s := t.text
	starter, length := -1, 0 // index of the last starter; length of the result so far
	for _, r := range s {
		if r < firstMark {
			s[length], starter = r, length
			length++
			continue
		}
		class := propertiesOf(r).class()
		blocked := length-1 > starter && propertiesOf(s[length-1]).class() >= class
		if starter >= 0 && !blocked {
			if c := composed(s[starter], r); c != 0 {
				s[starter] = c
				continue
			}
		}
		if class == 0 {
			starter = length
		}
		s[length] = r
		length++
	}
	t.text = s[:length]
}

// latinEnd is the end of the characters that have a separate table: Latin letters
// and their marks.
const latinEnd = 0x370

// latinDecompositions has the index in decompositions plus 1, or 0. Of an address with
// two such letters, the searches took 1,150 of 11,600 instructions (callgrind).
var latinDecompositions = func() (numbers [latinEnd]uint16) {
	for i := 0; decompositions[i].composed < latinEnd; i++ { // a range would copy the array to the stack, and into the module
		numbers[decompositions[i].composed] = uint16(i + 1)
	}
	return numbers
}()

// decompositionOf returns the first step of the decomposition of r, or nil.
func decompositionOf(r rune) *decomposition {
	if uint32(r) < latinEnd {
		if number := latinDecompositions[r]; number != 0 {
			return &decompositions[number-1]
		}
		return nil
	}
	i := sort.Search(len(decompositions), func(i int) bool { return decompositions[i].composed >= r })
	if i < len(decompositions) && decompositions[i].composed == r {
		return &decompositions[i]
	}
	return nil
}

// composed returns the character that first and second compose into, or 0.
func composed(first, second rune) rune {
	if r := composedHangul(first, second); r != 0 {
		return r
	}
	i := sort.Search(len(compositions), func(i int) bool {
		d := &decompositions[compositions[i]]
		return d.first > first || d.first == first && d.second >= second
	})
	if i < len(compositions) {
		if d := &decompositions[compositions[i]]; d.first == first && d.second == second {
			return d.composed
		}
	}
	return 0
}

// The constants of the algorithm that composes Hangul syllables (Unicode section
// 3.12).
const (
	hangulBase  = 0xAC00
	hangulEnd   = hangulBase + leadCount*vowelCount*trailCount
	leadBase    = 0x1100
	vowelBase   = 0x1161
	trailBase   = 0x11A7
	leadCount   = 19
	vowelCount  = 21
	trailCount  = 28
	syllablesOf = vowelCount * trailCount
)

// isJamo reports whether r is a character that Hangul syllables are composed of.
func isJamo(r rune) bool {
	lead, vowel, trail := r-leadBase, r-vowelBase, r-trailBase
	return 0 <= lead && lead < leadCount || 0 <= vowel && vowel < vowelCount || 0 < trail && trail < trailCount
}

// addHangul adds the decomposition of the Hangul syllable r.
func (t *runes) addHangul(r rune) {
	i := r - hangulBase
	t.text = append(t.text, leadBase+i/syllablesOf, vowelBase+i%syllablesOf/trailCount)
	if trail := i % trailCount; trail != 0 {
		t.add(trailBase + trail)
	}
}

// composedHangul returns the Hangul syllable that first and second compose into,
// or 0.
func composedHangul(first, second rune) rune {
	lead, vowel, trail, syllable := first-leadBase, second-vowelBase, second-trailBase, first-hangulBase
	switch {
	case 0 <= lead && lead < leadCount && 0 <= vowel && vowel < vowelCount:
		return hangulBase + (lead*vowelCount+vowel)*trailCount
	case 0 <= syllable && first < hangulEnd && syllable%trailCount == 0 && 0 < trail && trail < trailCount:
		return first + trail
	}
	return 0
}
