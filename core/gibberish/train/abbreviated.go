package main

import "strings"

// People shorten their names in more ways than initials. This file has those
// ways: without vowels, some letters of each part, initials of several words.

// anyName returns a first or a last name.
func (g *generator) anyName() string {
	first, last := g.name()
	if g.oneIn(2) {
		return first
	}
	return last
}

// anyWord returns a name, a word or a town.
func (g *generator) anyWord() string {
	switch g.IntN(6) {
	case 0, 1, 2:
		return g.anyName()
	case 3:
		return pick(g, g.english)
	case 4:
		return g.word()
	}
	return pick(g, pick(g, g.towns))
}

// abbreviated returns a name or a word of which letters are missing.
func (g *generator) abbreviated() string {
	first, last := g.name()
	s := ""
	switch g.IntN(12) {
	case 0, 1:
		s = g.squeeze(first) + g.squeeze(last)
	case 2:
		s = g.squeeze(first)
	case 3:
		s = g.squeeze(last)
	case 4:
		s = cut(first, 1+g.IntN(2)) + g.squeeze(last)
	case 5:
		s = first + g.squeeze(last)
	case 6:
		s = g.squeeze(first) + last
	case 7:
		s = g.some(first) + g.some(last)
	case 8:
		s = cut(first, 2+g.IntN(3)) + cut(last, 2+g.IntN(3))
	case 9:
		s = g.squeeze(g.word())
	case 10:
		s = g.squeeze(first) + g.maybeSeparator() + g.squeeze(last)
	case 11:
		s = cut(first, 1+g.IntN(4)) + g.some(last) + cut(g.anyName(), g.IntN(3))
	}
	return s + g.maybeHandleNumber(3)
}

// squeeze drops vowels of s, all or some, and perhaps other letters, but never
// the first.
func (g *generator) squeeze(s string) string {
	vowels := pick(g, []int{100, 100, 90, 60, 40}) // percent that are dropped
	others := pick(g, []int{0, 0, 0, 10, 25})
	var b strings.Builder
	for i := range len(s) {
		percent := others
		if strings.IndexByte("aeiou", s[i]) >= 0 {
			percent = vowels
		}
		if i == 0 || g.IntN(100) >= percent {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// some returns the first letter of s and about one to three others, in order.
func (g *generator) some(s string) string {
	kept := 1 + g.IntN(3)
	var b strings.Builder
	for i := range len(s) {
		if i == 0 || g.IntN(len(s)-1) < kept {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// initials returns the first letters of n names, words or Chinese syllables.
func (g *generator) initials(n int) string {
	of := pick(g, []func() string{g.anyName, g.word, g.syllable, g.anyWord})
	var b strings.Builder
	for range n {
		b.WriteString(cut(of(), 1))
	}
	return b.String()
}

// nameInitials returns a name with two or three initials before or behind it.
func (g *generator) nameInitials() string {
	first, last := g.name()
	if g.oneIn(2) {
		last = pick(g, g.surnames)
	}
	s := ""
	switch g.IntN(8) {
	case 0, 1, 2:
		s = cut(first, 1) + g.initials(1+g.IntN(2)) + last
	case 3:
		s = first + g.initials(2+g.IntN(3))
	case 4:
		s = first + cut(last, 1) + g.initials(1+g.IntN(2))
	case 5:
		s = first + g.separator() + g.initials(1+g.IntN(3)) + g.maybeSeparator() + cut(last, g.IntN(4))
	case 6:
		s = cut(first, 1+g.IntN(3)) + last + g.initials(1+g.IntN(2))
	case 7:
		s = last + g.initials(1+g.IntN(3))
	}
	return s + g.maybeHandleNumber(3)
}

// opaque returns a handle that means something only to its owner: the initials
// of a phrase, alone or beside a word.
func (g *generator) opaque() string {
	s := g.initials(2 + g.IntN(4))
	switch g.IntN(14) {
	case 0, 1, 2:
		s = g.initials(3 + g.IntN(5))
	case 3:
		s += s
	case 4:
		s = g.initials(1+g.IntN(3)) + g.syllable() + g.initials(g.IntN(3))
	case 5:
		s = g.syllable() + g.initials(1+g.IntN(3))
	case 6: // the last letter is drawn out
		s += strings.Repeat(s[len(s)-1:], 1+g.IntN(3))
	case 7:
		s = g.initials(2+g.IntN(3)) + cut(g.anyWord(), 2+g.IntN(3))
	case 8:
		s = g.initials(2+g.IntN(2)) + g.anyWord()
	case 9, 10:
		s = g.anyWord() + g.initials(1+g.IntN(4))
	case 11:
		s = cut(g.anyWord(), 2+g.IntN(3)) + g.initials(1+g.IntN(3))
	case 12:
		s = g.from(letterSet, 3, 6)
	case 13:
		s = g.anyWord() + g.separator() + g.initials(2+g.IntN(3))
	}
	return s + g.maybeHandleNumber(2)
}
