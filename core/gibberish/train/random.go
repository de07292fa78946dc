package main

import (
	"strings"

	"github.com/addrspec/addrspec/core/internal/keyboard"
)

const (
	letterSet = "abcdefghijklmnopqrstuvwxyz"
	digitSet  = "0123456789"
)

// randomKinds are the local parts that programs generate, and those that people type
// without a word in mind.
var randomKinds = []kind{
	{"letters", 180, func(g *generator) string { return g.from(letterSet, 8, 18) }},
	{"letters and digits", 220, func(g *generator) string { return g.from(letterSet+digitSet, 7, 22) }},
	{"letters, digits, dashes", 20, func(g *generator) string { return g.from(letterSet+digitSet+"-_", 8, 22) }},
	{"hex", 70, func(g *generator) string { return g.from("0123456789abcdef", 8, 40) }},
	{"uuid", 50, (*generator).uuid},
	{"base32", 60, func(g *generator) string { return g.from(letterSet+"234567", 8, 28) }},
	{"Crockford base32", 20, func(g *generator) string { return g.from("0123456789abcdefghjkmnpqrstvwxyz", 8, 26) }},
	{"consonants", 90, func(g *generator) string { return g.sounds(g.IntN(20)) }},
	{"keyboard mash", 150, (*generator).mash},
	{"keyboard rows", 60, (*generator).rows},
	{"two or three runs", 80, func(g *generator) string {
		set := pick(g, []string{letterSet, letterSet, letterSet + digitSet})
		s := g.from(set, 3, 9)
		for range 1 + g.IntN(10)/8 {
			s += g.separator() + g.from(set, 3, 9)
		}
		return s
	}},
	{"blocks of letters and digits", 200, forms(func(d *draft) {
		if d.oneIn(6) {
			d.b = d.digits(1 + d.IntN(4))
		}
		for range 1 + d.IntN(2) {
			d.b += d.from(letterSet, 2, 6) + d.digits(1+d.IntN(4))
		}
	}, "B Ba25 Ba25 Ba25", "")},
	{"consonants and digits", 30, func(g *generator) string { return g.from("bcdfghjklmnpqrstvwxz"+digitSet, 7, 16) }},
	{"letters, then digits", 20, func(g *generator) string { return g.from(letterSet, 6, 12) + g.digits(1+g.IntN(4)) }},
	{"vowels", 18, func(g *generator) string { return g.sounds(60 + g.IntN(30)) }},
	{"beside a name", 7, forms(func(d *draft) { // a name, or a word for an account, which it makes unique
		d.b = pick(d.generator, d.firsts)
		if d.oneIn(4) {
			d.b = pick(d.generator, accountWords)
		}
		d.q = d.from(letterSet+digitSet, 6, 9)
	}, "Q.B B?Q B?Q B?Q", "")},
	{"Apple relay", 60, appleRelay},
	{"base 36", 50, func(g *generator) string { return g.from(letterSet+digitSet, 8, 9) }},
	{"letters, long", 100, func(g *generator) string { return g.from(letterSet, 9, 16) }},
	{"base 62", 30, func(g *generator) string { return g.from(letterSet+letterSet+digitSet, 10, 24) }},
	{"short hex", 40, func(g *generator) string { return g.hex(8) }},
	{"throwaway", 15, func(g *generator) string { return g.from(letterSet, 7, 10) + g.digits(2+g.IntN(4)) }},
}

func appleRelay(g *generator) string { return g.from("bcdfghjkmnpqrstvwxyz2456789", 10, 10) }

// uuid returns a UUID or some of its groups, but not a group of four alone.
func (g *generator) uuid() string {
	groups := []string{g.hex(8), g.hex(4), g.hex(4), g.hex(4), g.hex(12)}
	from := g.IntN(3)
	to := from + 1 + g.IntN(len(groups)-from)
	if from > 0 && to == from+1 {
		to++
	}
	return strings.Join(groups[from:to], pick(g, []string{"-", "-", ""}))
}

func (g *generator) hex(n int) string { return g.from("0123456789abcdef", n, n) }

func (g *generator) sounds(vowels int) string {
	var b strings.Builder
	for range 7 + g.IntN(8) {
		set := "bcdfghjklmnpqrstvwxz"
		if g.IntN(100) < vowels {
			set = "aeiou"
		}
		b.WriteByte(set[g.IntN(len(set))])
	}
	return b.String()
}

var (
	keyRows = keyboard.QWERTY.LetterRows()
	hands   = [2]string{"qwertasdfgzxcvb", "yuiophjklnm"} // the left one first
)

// mash returns letters as hands on a keyboard produce them without a word in
// mind.
func (g *generator) mash() string {
	switch g.IntN(12) {
	case 0, 1: // along rows
		s := ""
		for range 1 + g.IntN(3) {
			s += g.rowWalk(3 + g.IntN(6))
		}
		if len(s) < 6 {
			s += g.rowWalk(6)
		}
		return s
	case 2, 3: // one chunk repeated
		chunk := g.from(pick(g, append(keyRows[:], letterSet)), 2, 4)
		return strings.Repeat(chunk, max(2+g.IntN(4), (7-len(chunk))/len(chunk)+1))
	case 4: // one key held down
		return strings.Repeat(g.from(letterSet, 1, 1), 6+g.IntN(20))
	case 5, 6, 7: // each key a neighbour of the one before, or the same
		n := 6 + g.IntN(8)
		y, x := g.IntN(3), g.IntN(7)
		var b strings.Builder
		for b.Len() < n {
			b.WriteByte(keyRows[y][x])
			y = max(0, min(2, y+g.IntN(3)-1))
			x = max(0, min(len(keyRows[y])-1, x+g.IntN(3)-1))
		}
		return b.String()
	case 8, 9: // one row
		return g.from(pick(g, keyRows[:]), 6, 13)
	}
	var b strings.Builder // the hands in turn
	for i := range 6 + g.IntN(8) {
		b.WriteByte(pick(g, []byte(hands[i%2])))
	}
	return b.String()
}

// typedRows are the letter rows of the common layouts, from top to bottom, and the
// home row of Dvorak.
var typedRows = []string{
	"qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertyuiop", "asdfghjkl", "zxcvbnm", "asdfghjkl", "asdfghjkl", // QWERTY
	"qwertzuiop", "yxcvbnm", "azertyuiop", "qsdfghjklm", "wxcvbn", "aoeuidhtns",
}

// rows returns the keys of a row in order, as people fill in a form: asdf, once
// or repeatedly, perhaps with the next row or a number.
func (g *generator) rows() string {
	row := pick(g, typedRows)
	n := min(pick(g, []int{3, 3, 3, 4, 4, 4, 5, 5, 6, 7, 8, 9}), len(row))
	at := 0
	if !g.oneIn(2) {
		at = g.IntN(len(row) - n + 1)
	}
	s := row[at : at+n]
	if g.oneIn(6) {
		s = backwards(s)
	}
	switch g.IntN(8) {
	case 0, 1:
		return strings.Repeat(s, 2+g.IntN(2))
	case 2:
		return s + pick(g, typedRows)[:3+g.IntN(2)]
	case 3:
		return s + "1234567890"[:1+g.IntN(5)]
	}
	return s
}

// rowWalk returns up to n neighbouring keys of a row, in either direction.
func (g *generator) rowWalk(n int) string {
	row := pick(g, keyRows[:])
	n = min(n, len(row))
	at := g.IntN(len(row) - n + 1)
	if g.oneIn(3) {
		return backwards(row[at : at+n])
	}
	return row[at : at+n]
}
