package main

import "strings"

// random generates a local part like those that programs generate, and those
// that people type without a word in mind.
func (g *generator) random() string {
	for {
		if s := g.choose(g.randomKinds); len(s) >= 3 && len(s) <= 64 {
			return s
		}
	}
}

const (
	letterSet = "abcdefghijklmnopqrstuvwxyz"
	digitSet  = "0123456789"
)

var randomKinds = []kind{
	{"letters", 180, func(g *generator) string { return g.from(letterSet, 8, 18) }},
	{"letters and digits", 220, func(g *generator) string { return g.from(letterSet+digitSet, 7, 22) }},
	{"letters, digits, dashes", 20, func(g *generator) string { return g.from(letterSet+digitSet+"-_", 8, 22) }},
	{"hex", 70, func(g *generator) string { return g.from("0123456789abcdef", 8, 40) }},
	{"uuid", 50, (*generator).uuid},
	{"base32", 60, func(g *generator) string { return g.from(letterSet+"234567", 8, 28) }},
	{"Crockford base32", 20, func(g *generator) string { return g.from("0123456789abcdefghjkmnpqrstvwxyz", 8, 26) }},
	{"consonants", 90, (*generator).consonants},
	{"keyboard mash", 150, (*generator).mash},
	{"keyboard rows", 14, (*generator).rows},
	{"two or three runs", 80, (*generator).dotted},
	{"blocks of letters and digits", 200, (*generator).blocks},
	{"consonants and digits", 30, func(g *generator) string { return g.from("bcdfghjklmnpqrstvwxz"+digitSet, 7, 16) }},
	{"letters, then digits", 20, func(g *generator) string { return g.from(letterSet, 6, 12) + g.digits(1+g.IntN(4)) }},
	{"vowels", 30, (*generator).vowels},
	{"beside a name", 5, (*generator).besideName},
	{"Apple relay", 60, appleRelay},
	{"base 36", 40, func(g *generator) string { return g.from(letterSet+digitSet, 8, 9) }},
	{"letters, long", 100, func(g *generator) string { return g.from(letterSet, 9, 16) }},
	{"base 62", 30, func(g *generator) string { return g.from(letterSet+letterSet+digitSet, 10, 24) }},
	{"short hex", 30, func(g *generator) string { return g.hex(8) }},
	{"throwaway", 15, func(g *generator) string { return g.from(letterSet, 7, 10) + g.digits(2+g.IntN(4)) }},
}

// relayKinds are the local parts that relay services and messengers draw.
var relayKinds = []kind{
	{"Apple relay", 1, appleRelay},
	{"base 36 of 8", 1, func(g *generator) string { return g.from(letterSet+digitSet, 8, 8) }},
	{"base 36 of 9", 1, func(g *generator) string { return g.from(letterSet+digitSet, 9, 9) }},
	{"short hex", 1, func(g *generator) string { return g.hex(8) }},
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

// consonants returns letters with few vowels, vowels letters with few
// consonants.
func (g *generator) consonants() string { return g.sounds(g.IntN(20)) }
func (g *generator) vowels() string     { return g.sounds(60 + g.IntN(30)) }

// sounds returns letters of which the given percentage are vowels.
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

// dotted returns two or three random runs.
func (g *generator) dotted() string {
	set := pick(g, []string{letterSet, letterSet, letterSet + digitSet})
	s := g.from(set, 3, 9)
	for range 1 + g.IntN(10)/8 {
		s += g.separator() + g.from(set, 3, 9)
	}
	return s
}

// blocks returns alternating blocks of letters and digits, starting with either.
func (g *generator) blocks() string {
	s := ""
	if g.oneIn(6) {
		s = g.digits(1 + g.IntN(4))
	}
	for range 1 + g.IntN(2) {
		s += g.from(letterSet, 2, 6) + g.digits(1+g.IntN(4))
	}
	if g.oneIn(4) {
		return s
	}
	return s + g.from(letterSet, 2, 5)
}

// besideName returns a name, or a word for an account, with a random part that
// makes it unique.
func (g *generator) besideName() string {
	first := pick(g, g.firsts)
	if g.oneIn(4) {
		first = pick(g, accountWords)
	}
	part := g.from(letterSet+digitSet, 6, 9)
	if g.oneIn(4) {
		return part + g.separator() + first
	}
	return first + g.maybeSeparator() + part
}
