package main

import "strings"

// A pattern says how a local part is written, a character for each piece:
//
//	F f  a first name, its initial       L l  the last name, its initial
//	M m  another first name, its initial O    another last name
//	p P  the beginning of F, of L        q    one to four letters of L
//	E    an English word                 W w  a word, the initial of a word
//	V    a word, of one language within a pattern
//	T    a town                          A    an acronym
//	. ?  a separator, or perhaps one     # + % a number, once in two, once in four
//	d D  two to four digits, three to eleven
//	!    F shortened, doubled or drawn out
//	i    an ending that makes F smaller  x    a frame, the same at either end
//	H h  what comes before or after a handle
//	C c  what comes after or before a company's name
//	R r  a function, a region            K    an account
//	k    a word with a digit in it       S    an exclamation
type pattern string

// cast is who and what the pieces of one local part stand for.
type cast struct {
	*maker
	first, last, middle, other, frame string
	language                          []string
}

// like makes local parts by patterns, parted by spaces, each as often.
func like(patterns string) func(*maker) string {
	all := strings.Fields(patterns)
	return func(m *maker) string { return m.write(pattern(pick(m, all))) }
}

func (m *maker) write(p pattern) string {
	c := cast{maker: m, frame: pick(m, frames), language: m.english}
	c.first, c.last = m.name()
	c.middle, c.other = m.name()
	if !m.odds(3) {
		c.language = pick(m, m.words)
	}
	var b strings.Builder
	for _, piece := range p {
		b.WriteString(pieces[piece](c))
	}
	return b.String()
}

var pieces = map[rune]func(cast) string{
	'F': func(c cast) string { return c.first },
	'f': func(c cast) string { return cut(c.first, 1) },
	'L': func(c cast) string { return c.last },
	'l': func(c cast) string { return cut(c.last, 1) },
	'M': func(c cast) string { return c.middle },
	'm': func(c cast) string { return cut(c.middle, 1) },
	'O': func(c cast) string { return c.other },
	'p': func(c cast) string { return cut(c.first, 2+c.IntN(2)) },
	'P': func(c cast) string { return cut(c.last, 3+c.IntN(5)) },
	'q': func(c cast) string { return cut(c.last, 1+c.IntN(4)) },
	'E': func(c cast) string { return pick(c.maker, c.english) },
	'W': func(c cast) string { return c.word() },
	'w': func(c cast) string { return cut(c.word(), 1) },
	'V': func(c cast) string { return pick(c.maker, c.language) },
	'T': func(c cast) string { return pick(c.maker, pick(c.maker, c.towns)) },
	'A': func(c cast) string { return pick(c.maker, c.acronyms) },
	'.': func(c cast) string { return c.separator() },
	'?': func(c cast) string { return c.maybeSeparator() },
	'#': func(c cast) string { return c.number() },
	'+': func(c cast) string { return c.maybeNumber(2) },
	'%': func(c cast) string { return c.maybeNumber(4) },
	'd': func(c cast) string { return c.digits(2 + c.IntN(3)) },
	'D': func(c cast) string { return c.digits(3 + c.IntN(9)) },
	'!': func(c cast) string { return c.nickname() },
	'i': func(c cast) string { return pick(c.maker, diminutive) },
	'x': func(c cast) string { return c.frame },
	'H': func(c cast) string { return pick(c.maker, handlePrefixes) },
	'h': func(c cast) string { return pick(c.maker, handleSuffixes) },
	'C': func(c cast) string { return pick(c.maker, companySuffixes) },
	'c': func(c cast) string { return pick(c.maker, companyPrefixes) },
	'R': func(c cast) string { return pick(c.maker, roleWords) },
	'r': func(c cast) string { return pick(c.maker, places) },
	'K': func(c cast) string { return pick(c.maker, accountWords) },
	'k': func(c cast) string { return pick(c.maker, numberWords) },
	'S': func(c cast) string { return pick(c.maker, sounds) },
}

func cut(s string, n int) string { return s[:min(len(s), n)] }

// nickname is a first name shortened, a piece of it doubled, or its end drawn
// out, as in kris, momo, annaaa.
func (c cast) nickname() string {
	short := cut(c.first, 2+c.IntN(3))
	switch {
	case c.odds(3):
		short = c.first
	case len(short) == 2:
		short += short
	}
	if c.odds(3) {
		short += strings.Repeat(short[len(short)-1:], 1+c.IntN(3))
	}
	return short
}
