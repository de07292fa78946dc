package main

import "strings"

// A pattern describes how a local part is written, a character for each piece:
//
//	F f  a first name, its initial         L l  the last name, its initial
//	M m  another first name, its initial   O    another last name
//	p P  the start of F, of L              q    one to four letters of L
//	E    an English word                   W w  a word, the initial of a word
//	V    a word; all V of a pattern are of one language
//	T    a town                            A    an acronym
//	. ?  a separator, perhaps one          # + % a number, one time in two, in four
//	d D  two to four digits, three to eleven
//	!    F shortened, doubled or drawn out
//	i    a diminutive suffix               x    a frame; all x of a pattern are the same
//	H h  a prefix or suffix of a handle
//	C c  a suffix or prefix of a company
//	R r  a role, a region                  K    a word for an account
//	k    a word with a digit in it         S    an exclamation
type pattern string

// parts has the values of one local part that its pieces share, and the
// generator for the others.
type parts struct {
	*generator
	first, last, middle, other, frame string
	language                          []string
}

// patterns returns a function that generates local parts by patterns, separated
// by spaces, each as often as the others.
func patterns(patterns string) func(*generator) string {
	all := strings.Fields(patterns)
	return func(g *generator) string { return g.write(pattern(pick(g, all))) }
}

func (g *generator) write(form pattern) string {
	p := parts{generator: g, frame: pick(g, frames), language: g.english}
	p.first, p.last = g.name()
	p.middle, p.other = g.name()
	if !g.oneIn(3) {
		p.language = pick(g, g.words)
	}
	var b strings.Builder
	for _, piece := range form {
		b.WriteString(pieces[piece](p))
	}
	return b.String()
}

var pieces = map[rune]func(parts) string{
	'F': func(p parts) string { return p.first },
	'f': func(p parts) string { return cut(p.first, 1) },
	'L': func(p parts) string { return p.last },
	'l': func(p parts) string { return cut(p.last, 1) },
	'M': func(p parts) string { return p.middle },
	'm': func(p parts) string { return cut(p.middle, 1) },
	'O': func(p parts) string { return p.other },
	'p': func(p parts) string { return cut(p.first, 2+p.IntN(2)) },
	'P': func(p parts) string { return cut(p.last, 3+p.IntN(5)) },
	'q': func(p parts) string { return cut(p.last, 1+p.IntN(4)) },
	'E': func(p parts) string { return pick(p.generator, p.english) },
	'W': func(p parts) string { return p.word() },
	'w': func(p parts) string { return cut(p.word(), 1) },
	'V': func(p parts) string { return pick(p.generator, p.language) },
	'T': func(p parts) string { return pick(p.generator, pick(p.generator, p.towns)) },
	'A': func(p parts) string { return pick(p.generator, p.acronyms) },
	'.': func(p parts) string { return p.separator() },
	'?': func(p parts) string { return p.maybeSeparator() },
	'#': func(p parts) string { return p.number() },
	'+': func(p parts) string { return p.maybeNumber(2) },
	'%': func(p parts) string { return p.maybeNumber(4) },
	'd': func(p parts) string { return p.digits(2 + p.IntN(3)) },
	'D': func(p parts) string { return p.digits(3 + p.IntN(9)) },
	'!': func(p parts) string { return p.nickname() },
	'i': func(p parts) string { return pick(p.generator, diminutive) },
	'x': func(p parts) string { return p.frame },
	'H': func(p parts) string { return pick(p.generator, handlePrefixes) },
	'h': func(p parts) string { return pick(p.generator, handleSuffixes) },
	'C': func(p parts) string { return pick(p.generator, companySuffixes) },
	'c': func(p parts) string { return pick(p.generator, companyPrefixes) },
	'R': func(p parts) string { return pick(p.generator, roleWords) },
	'r': func(p parts) string { return pick(p.generator, regions) },
	'K': func(p parts) string { return pick(p.generator, accountWords) },
	'k': func(p parts) string { return pick(p.generator, numberWords) },
	'S': func(p parts) string { return pick(p.generator, sounds) },
}

func cut(s string, n int) string { return s[:min(len(s), n)] }

// nickname returns a first name or its first letters, of which two are doubled;
// the last letter may be drawn out: kris, momo, annaaa.
func (p parts) nickname() string {
	short := cut(p.first, 2+p.IntN(3))
	switch {
	case p.oneIn(3):
		short = p.first
	case len(short) == 2:
		short += short
	}
	if p.oneIn(3) {
		short += strings.Repeat(short[len(short)-1:], 1+p.IntN(3))
	}
	return short
}
