package main

import (
	"slices"
	"strings"
)

// coined returns a word that nobody has used before and yet can be said, or one
// with its letters changed.
func (g *generator) coined() string {
	w := g.anyWord()
	switch other := g.anyWord(); g.IntN(10) {
	case 0:
		w = cut(w, 2+g.IntN(3)) + other[max(0, len(other)-2-g.IntN(3)):]
	case 1:
		w = cut(w, 2+g.IntN(3)) + cut(other, 2+g.IntN(3)) + pick(g, endings)
	case 2: // a letter is drawn out
		i := g.IntN(len(w))
		w = w[:i] + strings.Repeat(w[i:i+1], 2+g.IntN(4)) + w[i+1:]
	case 3:
		w = g.respelled(w)
	case 4:
		w = backwards(w)
	case 5: // two letters change places
		if len(w) > 3 {
			i := 1 + g.IntN(len(w)-2)
			w = w[:i] + w[i+1:i+2] + w[i:i+1] + w[i+2:]
		}
	case 6:
		w = g.pronounceable()
	case 7:
		w = cut(w, 2+g.IntN(2)) + cut(other, 2+g.IntN(2)) + cut(g.anyWord(), 2+g.IntN(2))
	case 8:
		w = w[g.IntN(len(w)):] + other
	case 9:
		w += other[g.IntN(len(other)):]
	}
	return w + g.maybeHandleNumber(2)
}

var endings = strings.Fields("o a ix ex us y ify ly io er or on ax oo ity z x")

// respelled replaces one or two letters of w, but not the first.
func (g *generator) respelled(w string) string {
	for range 1 + g.IntN(2) {
		if i := g.IntN(len(w)); i > 0 {
			w = w[:i] + g.from("xzkqwyvjuish", 1, 1) + w[i+1:]
		}
	}
	return w
}

func backwards(w string) string {
	b := []byte(w)
	slices.Reverse(b)
	return string(b)
}

// pronounceable returns consonants and vowels in turn.
func (g *generator) pronounceable() string {
	var b strings.Builder
	for range 2 + g.IntN(3) {
		b.WriteString(g.from("bcdfghjklmnpqrstvwxyz", 1, 1) + g.from("aaeeiioouy", 1, 1))
		if g.oneIn(4) {
			b.WriteString(g.from("nrlstmkxz", 1, 1))
		}
	}
	return b.String()
}

// respelledLeet writes digits for letters anywhere, even where the model does
// not read them as letters.
func (g *generator) respelledLeet() string {
	s := []byte(g.anyWord() + cut(g.anyWord(), g.IntN(6)))
	n := 2 + g.IntN(3)
	for i, b := range s {
		if d := strings.IndexByte(leetLetters, b); d >= 0 && g.oneIn(n) {
			s[i] = '0' + byte(d)
		}
	}
	if g.oneIn(6) {
		return "0x" + string(s) + g.maybeHandleNumber(3)
	}
	return string(s) + g.maybeHandleNumber(3)
}
