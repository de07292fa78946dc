package core

// Unicode Normalization Form C (UAX #15), over a fixed stretch of characters.

// runesMax bounds the characters of one part under way. A label or local part
// that fits its limit never has more: NFC takes at most four characters
// together into one.
const runesMax = 512

// runes is a part being normalized.
type runes struct {
	text   [runesMax]rune
	length int
}

func (t *runes) all() []rune { return t.text[:t.length] }

func (t *runes) reset() { t.length = 0 }

func (t *runes) add(r rune) {
	if t.length < runesMax { // always so, as a test shows for every character
		t.text[t.length] = r
		t.length++
	}
}

// decomposition takes composed apart into first and second, 0 for none.
type decomposition struct{ composed, first, second rune }

// Whether case is kept while decomposing.
const (
	keepCase  = false
	lowerCase = true
)

// addDecomposed adds the canonical decomposition of r in canonical order, in
// lower case where asked.
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
	t.order()
}

// order moves the last character before those of a higher combining class
// (Unicode section 3.11, canonical ordering).
func (t *runes) order() {
	s := t.all()
	i := len(s) - 1
	class := propertiesOf(s[i]).class()
	if class == 0 {
		return
	}
	for ; i > 0 && propertiesOf(s[i-1]).class() > class; i-- {
		s[i-1], s[i] = s[i], s[i-1]
	}
}

// compose composes what canonical composition takes together.
func (t *runes) compose() {
	s := t.all()
	starter, length := -1, 0 // the last starter, and how much is done
	for _, r := range s {
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
	t.length = length
}

// decompositionOf returns the decomposition of r by one step, or nil.
func decompositionOf(r rune) *decomposition {
	if r < decompositions[0].composed {
		return nil
	}
	low, high := 0, len(decompositions)
	for low < high {
		if middle := (low + high) / 2; decompositions[middle].composed < r {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(decompositions) && decompositions[low].composed == r {
		return &decompositions[low]
	}
	return nil
}

// composed returns the character that first and second compose into, or 0.
func composed(first, second rune) rune {
	if r := composedHangul(first, second); r != 0 {
		return r
	}
	low, high := 0, len(compositions)
	for low < high {
		middle := (low + high) / 2
		if d := &decompositions[compositions[middle]]; d.first < first || d.first == first && d.second < second {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(compositions) {
		if d := &decompositions[compositions[low]]; d.first == first && d.second == second {
			return d.composed
		}
	}
	return 0
}
