package main

// syllables are what Chinese and Korean handles are made of. The Korean ones are
// the Latin letters of the Korean keys. A frequent one is in its list repeatedly.
type syllables struct {
	pinyin                                                   []string
	koreanFirst, koreanLast, givenOne, givenTwo, koreanWords []string
}

func newSyllables(s sections) syllables {
	return syllables{s["pinyin"], s["keys first"], s["keys last"], s["keys given one"], s["keys given two"], s["keys word"]}
}

// syllable returns a Chinese syllable.
func (g *generator) syllable() string { return pick(g, g.pinyin) }

// chinese returns a name or a phrase in pinyin.
func (g *generator) chinese() string {
	s := ""
	for range 1 + g.IntN(4) {
		s += g.syllable()
	}
	switch g.IntN(6) {
	case 0:
		s = g.initials(1) + s
	case 1:
		s += pick(g, []string{"a", "x", "z", "qq", "vip", "xx", "zz", "cn", "ya", "er", "y"})
	case 2:
		if len(s) > 4 { // a letter is missing
			i := g.IntN(len(s))
			s = s[:i] + s[i+1:]
		}
	}
	return s + g.maybeHandleNumber(2)
}

// korean returns a Korean name, or words, typed without switching the keyboard
// from Latin: alstn for Min-su.
func (g *generator) korean() string {
	given := pick(g, g.koreanFirst)
	if g.oneIn(2) {
		given = pick(g, g.givenOne) + pick(g, g.givenTwo)
	}
	s := pick(g, g.koreanLast) + given
	switch g.IntN(8) {
	case 0:
		s = given
	case 1:
		s = pick(g, g.koreanWords)
	case 2:
		s = pick(g, g.koreanWords) + pick(g, g.koreanWords)
	}
	return s + g.maybeHandleNumber(2)
}
