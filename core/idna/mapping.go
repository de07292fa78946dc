package idna

import "unicode/utf8"

func (c *Converter) mapLabel(label []byte) Violation {
	c.text.reset()
	for i := 0; i < len(label); {
		r, size := utf8.DecodeRune(label[i:])
		if isOwnLower(r, label[i+size:]) {
			c.text.add(r)
		} else if !c.text.addMapped(r) {
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

func (t *runes) addMapped(r rune) bool {
	if r < utf8.RuneSelf {
		t.add(lowerRune(r))
		return true
	}
	switch propertiesOf(r).status() {
	case disallowed:
		return false
	case mapped: // to lower case unless the tables have another mapping
		i := mappings.find(r)
		if i < 0 {
			t.addDecomposed(r, lowerCase)
			return true
		}
		to := mappedTo.at(i)
		if to < severalFrom {
			t.addDecomposed(to, keepCase)
			return true
		}
		size := texts[to-severalFrom]
		for _, m := range texts[to-severalFrom+1:][:size] {
			t.addDecomposed(m, keepCase)
		}
	case ignored:
	default: // valid, perhaps among others only
		t.addDecomposed(r, keepCase)
	}
	return true
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

func (t *runes) isASCII() bool {
	for _, r := range t.text {
		if r >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

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
		i += size
		if isOwnLower(r, s[i:]) {
			c.text.add(r)
		} else {
			c.text.addDecomposed(r, lowerCase)
		}
	}
	c.text.compose()
	return c.text.appendTo(dst)
}

// Whether decomposing keeps the case.
const (
	keepCase  = false
	lowerCase = true
)

// addDecomposed adds the canonical decomposition of r in canonical order, and in
// lower case if lowered is set.
func (t *runes) addDecomposed(r rune, lowered bool) {
	if i := r - hangulBase; 0 <= i && r < hangulEnd {
		t.text = append(t.text, leadBase+i/syllablesOf, vowelBase+i%syllablesOf/trailCount)
		if trail := i % trailCount; trail != 0 {
			t.add(trailBase + trail)
		}
		return
	}
	if i := decompositions.find(r); i >= 0 {
		t.addDecomposed(firsts.at(i), lowered)
		if second := seconds.at(i); second != 0 {
			t.addDecomposed(second, lowered)
		}
		return
	}
	if lowered {
		r = lowerRune(r)
	}
	t.add(r)
	if r < firstMark {
		return
	}
	// Move it before characters of a higher combining class (Unicode section 3.11, canonical ordering).
	s := t.text
	i := len(s) - 1
	class := propertiesOf(r).class()
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

// ownLower has a bit for each letter before firstMark that is its own lower case and is mapped to
// itself, such as é.
var ownLower = func() (set [firstMark / 64]uint64) {
	var t runes // one, since the packed module has the memory that is garbage now
	for r := rune('a'); r < firstMark; r++ {
		t.reset()
		t.addDecomposed(r, lowerCase)
		t.compose()
		if propertiesOf(r).status() == pvalid && len(t.text) == 1 && t.text[0] == r {
			set[r>>6] |= 1 << (r & 63)
		}
	}
	return set
}()

// isOwnLower reports whether r, before rest, is the lower case of itself in NFC, because no mark
// follows: then it needs no decomposition. The characters that begin with 0xC2 are left out,
// since UTS #46 ignores one of them.
func isOwnLower(r rune, rest []byte) bool {
	return r < firstMark && ownLower[r>>6]>>(r&63)&1 != 0 &&
		(len(rest) == 0 || rest[0] < utf8.RuneSelf || 0xC3 <= rest[0] && rest[0] < 0xCC)
}

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
		p := propertiesOf(r)
		if starter >= 0 && p.composes() {
			blocked := length-1 > starter && propertiesOf(s[length-1]).class() >= p.class()
			if c := composed(s[starter], r); c != 0 && !blocked {
				s[starter] = c
				continue
			}
		}
		if p.class() == 0 {
			starter = length
		}
		s[length] = r
		length++
	}
	t.text = s[:length]
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

// composed returns the character that first and second compose into, or 0.
func composed(first, second rune) rune {
	lead, vowel, trail, syllable := first-leadBase, second-vowelBase, second-trailBase, first-hangulBase
	switch {
	case 0 <= lead && lead < leadCount && 0 <= vowel && vowel < vowelCount:
		return hangulBase + (lead*vowelCount+vowel)*trailCount
	case 0 <= syllable && first < hangulEnd && syllable%trailCount == 0 && 0 < trail && trail < trailCount:
		return first + trail
	}
	n := composing.find(first)
	if n < 0 {
		return 0
	}
	bounds := pairs[2*n : 2*n+4]
	for i := int(bounds[0]) | int(bounds[1])<<8; i < int(bounds[2])|int(bounds[3])<<8; i++ {
		if partners.low[i] == byte(second) && partners.at(i) == second {
			return composite.at(i)
		}
	}
	return 0
}
