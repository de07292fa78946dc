package main

import (
	"strings"

	"github.com/addrspec/addrspec/core/internal/keyboard"
)

var (
	keyRows = keyboard.QWERTY.LetterRows()
	hands   = handKeys()
)

// handKeys returns the letters of the left hand and those of the right.
func handKeys() (hands [2]string) {
	for _, row := range keyRows {
		hands[0] += row[:keyboard.LeftHand]
		hands[1] += row[keyboard.LeftHand:]
	}
	return hands
}

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
	case 5, 6, 7:
		return g.keyWalk(6 + g.IntN(8))
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

// rowLengths are how many keys of a row are typed.
var rowLengths = []int{3, 3, 3, 4, 4, 4, 5, 5, 6, 7, 8, 9}

// rows returns the keys of a row in order, as people fill in a form: asdf, once
// or repeatedly, perhaps with the next row or a number.
func (g *generator) rows() string {
	row := pick(g, typedRows)
	n := min(pick(g, rowLengths), len(row))
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
	walk := []byte(row[at : at+n])
	if g.oneIn(3) {
		for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
			walk[i], walk[j] = walk[j], walk[i]
		}
	}
	return string(walk)
}

// keyWalk returns n keys, each a neighbour of the one before or the same.
func (g *generator) keyWalk(n int) string {
	y, x := g.IntN(3), g.IntN(7)
	var b strings.Builder
	for b.Len() < n {
		b.WriteByte(keyRows[y][x])
		y = max(0, min(2, y+g.IntN(3)-1))
		x = max(0, min(len(keyRows[y])-1, x+g.IntN(3)-1))
	}
	return b.String()
}
