package main

import (
	"strings"

	"github.com/addrspec/addrspec/core/internal/keyboard"
)

// random makes up a local part that nobody would call a name: what programs
// generate and what fingers do without a thought.
func (m *maker) random() string {
	for {
		if s := m.choose(m.randomKinds); len(s) >= 6 && len(s) <= 64 {
			return s
		}
	}
}

const (
	letterSet = "abcdefghijklmnopqrstuvwxyz"
	digitSet  = "0123456789"
)

var randomKinds = []kind{
	{"letters", 150, func(m *maker) string { return m.from(letterSet, 7, 18) }},
	{"letters and digits", 150, func(m *maker) string { return m.from(letterSet+digitSet, 7, 22) }},
	{"letters, digits, dashes", 20, func(m *maker) string { return m.from(letterSet+digitSet+"-_", 8, 22) }},
	{"hex", 70, func(m *maker) string { return m.from("0123456789abcdef", 8, 40) }},
	{"uuid", 50, (*maker).uuid},
	{"base32", 60, func(m *maker) string { return m.from(letterSet+"234567", 8, 28) }},
	{"Crockford base32", 20, func(m *maker) string { return m.from("0123456789abcdefghjkmnpqrstvwxyz", 8, 26) }},
	{"consonants", 80, (*maker).consonants},
	{"keyboard mash", 100, (*maker).mash},
	{"two or three runs", 70, (*maker).dotted},
	{"blocks of letters and digits", 80, (*maker).blocks},
	{"consonants and digits", 30, func(m *maker) string { return m.from("bcdfghjklmnpqrstvwxz"+digitSet, 7, 16) }},
	{"letters, then digits", 40, func(m *maker) string { return m.from(letterSet, 6, 12) + m.digits(1+m.IntN(4)) }},
	{"vowels", 30, (*maker).vowels},
	{"beside a name", 30, (*maker).besideName},
}

// uuid is a UUID or some of its groups.
func (m *maker) uuid() string {
	groups := []string{m.hex(8), m.hex(4), m.hex(4), m.hex(4), m.hex(12)}
	from := m.IntN(3)
	to := from + 1 + m.IntN(len(groups)-from)
	return strings.Join(groups[from:to], pick(m, []string{"-", "-", ""}))
}

func (m *maker) hex(n int) string { return m.from("0123456789abcdef", n, n) }

// consonants has hardly a vowel, vowels hardly a consonant.
func (m *maker) consonants() string { return m.sounds(m.IntN(20)) }
func (m *maker) vowels() string     { return m.sounds(60 + m.IntN(30)) }

// sounds is letters of which so many in a hundred are vowels.
func (m *maker) sounds(vowels int) string {
	var b strings.Builder
	for range 7 + m.IntN(8) {
		set := "bcdfghjklmnpqrstvwxz"
		if m.IntN(100) < vowels {
			set = "aeiou"
		}
		b.WriteByte(set[m.IntN(len(set))])
	}
	return b.String()
}

var (
	keyRows = keyboard.QWERTY.LetterRows()
	hands   = handKeys()
)

// handKeys returns the letters that the left hand types, and the right.
func handKeys() (hands [2]string) {
	for _, row := range keyRows {
		hands[0] += row[:keyboard.LeftHand]
		hands[1] += row[keyboard.LeftHand:]
	}
	return hands
}

// mash is what fingers do on a keyboard.
func (m *maker) mash() string {
	switch m.IntN(12) {
	case 0, 1: // walks along rows
		s := ""
		for range 1 + m.IntN(3) {
			s += m.rowWalk(3 + m.IntN(6))
		}
		return s
	case 2, 3: // one chunk over and over
		chunk := m.from(pick(m, append(keyRows[:], letterSet)), 2, 4)
		return strings.Repeat(chunk, 2+m.IntN(4))
	case 4: // one key held down
		return strings.Repeat(m.from(letterSet, 1, 1), 6+m.IntN(20))
	case 5, 6, 7:
		return m.keyWalk(6 + m.IntN(8))
	case 8, 9: // one row
		return m.from(pick(m, keyRows[:]), 6, 13)
	}
	var b strings.Builder
	for i := range 6 + m.IntN(8) {
		b.WriteByte(pick(m, []byte(hands[i%2])))
	}
	return b.String()
}

func (m *maker) rowWalk(n int) string {
	row := pick(m, keyRows[:])
	n = min(n, len(row))
	at := m.IntN(len(row) - n + 1)
	walk := []byte(row[at : at+n])
	if m.odds(3) {
		for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
			walk[i], walk[j] = walk[j], walk[i]
		}
	}
	return string(walk)
}

// keyWalk goes from key to neighbouring key.
func (m *maker) keyWalk(n int) string {
	y, x := m.IntN(3), m.IntN(7)
	var b strings.Builder
	for b.Len() < n {
		b.WriteByte(keyRows[y][x])
		y = max(0, min(2, y+m.IntN(3)-1))
		x = max(0, min(len(keyRows[y])-1, x+m.IntN(3)-1))
	}
	return b.String()
}

// dotted is two or three random runs.
func (m *maker) dotted() string {
	set := pick(m, []string{letterSet, letterSet, letterSet + digitSet})
	s := m.from(set, 3, 9)
	for range 1 + m.IntN(10)/8 {
		s += m.separator() + m.from(set, 3, 9)
	}
	return s
}

// blocks takes turns between letters and digits, starting with either.
func (m *maker) blocks() string {
	s := ""
	if m.odds(6) {
		s = m.digits(1 + m.IntN(4))
	}
	for range 1 + m.IntN(2) {
		s += m.from(letterSet, 2, 6) + m.digits(1+m.IntN(4))
	}
	if m.odds(4) {
		return s
	}
	return s + m.from(letterSet, 2, 5)
}

// besideName is a name, or a word for an account, with a random part that
// makes it unique.
func (m *maker) besideName() string {
	first := pick(m, m.firsts)
	if m.odds(4) {
		first = pick(m, accountWords)
	}
	part := m.from(letterSet+digitSet, 6, 9)
	if m.odds(4) {
		return part + m.separator() + first
	}
	return first + m.maybeSeparator() + part
}
