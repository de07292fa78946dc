package main

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// generator generates local parts. The same seed gives the same ones.
type generator struct {
	*rand.Rand
	*lexicon
	cumulative  []float64 // weights of the cultures, summed up
	randomKinds []kind
}

func newGenerator(seed uint64, l *lexicon) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), lexicon: l, randomKinds: randomKinds}
	sum := 0.0
	for _, c := range l.cultures { // by the square root, so that long lists do not dominate
		sum += math.Sqrt(float64(min(len(c.first)+len(c.last), 1000)))
		g.cumulative = append(g.cumulative, sum)
	}
	return g
}

// kind is a kind of local part. Its weight is relative to those of the others.
type kind struct {
	name   string
	weight int
	make   func(*generator) string
}

func (g *generator) choose(kinds []kind) string {
	all := 0
	for _, k := range kinds {
		all += k.weight
	}
	n := g.IntN(all)
	for _, k := range kinds {
		if n -= k.weight; n < 0 {
			return k.make(g)
		}
	}
	panic("unreachable")
}

// pick returns a random element of from, or the zero value if from is empty.
func pick[T any](g *generator, from []T) (one T) {
	if len(from) > 0 {
		one = from[g.IntN(len(from))]
	}
	return one
}

// oneIn returns true with probability 1/n.
func (g *generator) oneIn(n int) bool { return g.IntN(n) == 0 }

func (g *generator) culture() *culture {
	x := g.Float64() * g.cumulative[len(g.cumulative)-1]
	for i, sum := range g.cumulative {
		if x < sum {
			return &g.cultures[i]
		}
	}
	return &g.cultures[0]
}

// name picks a first and a last name, usually of one culture. Three last names
// in ten are from the census, with a third of their first names; others are of
// another culture, or a town's, since surnames resemble towns.
func (g *generator) name() (first, last string) {
	c := g.culture()
	first, last = pick(g, c.first), pick(g, c.last)
	if len(g.surnames) > 0 && g.IntN(10) < 3 {
		if g.oneIn(3) {
			first = pick(g, g.surnames)
		}
		return first, pick(g, g.surnames)
	}
	switch odd := g.IntN(12); {
	case odd == 0:
		last = pick(g, g.culture().last)
	case odd == 1 && len(g.towns) > 0:
		last = pick(g, pick(g, g.towns))
	}
	return first, last
}

// word picks a word: English one time in four, otherwise of any language.
func (g *generator) word() string {
	if g.oneIn(4) {
		return pick(g, g.english)
	}
	return pick(g, pick(g, g.words))
}

func (g *generator) separator() string { return pick(g, []string{".", ".", ".", "_", "-"}) }

func (g *generator) maybeSeparator() string {
	if g.oneIn(2) {
		return ""
	}
	return g.separator()
}

// number returns a number such as people append: mostly years and short
// numbers, sometimes the digits of a date or of a telephone number.
func (g *generator) number() string {
	switch g.IntN(11) {
	case 0, 1, 2:
		return strconv.Itoa(1950 + g.IntN(75))
	case 3, 4, 5:
		return g.digits(2)
	case 6, 7:
		return g.digits(1)
	case 8:
		return g.digits(3)
	case 9:
		return g.digits(5 + g.IntN(7))
	}
	return pick(g, []string{g.digits(4), "_" + g.digits(2), "." + g.digits(2), "123", "007", "1234"})
}

// maybeNumber returns a number one time in n, otherwise "".
func (g *generator) maybeNumber(n int) string {
	if g.oneIn(n) {
		return g.number()
	}
	return ""
}

// favourites are numbers that people like, in the Latin world and in China.
var favourites = []string{"123", "007", "1234", "111", "000", "99", "00", "12345", "321", "666", "777", "888", "520", "1314",
	"2k", "69", "101", "404", "365", "1122", "0101"}

// handleNumber returns a number as handles have it: a year, a date, one to four
// digits or a favourite.
func (g *generator) handleNumber() string {
	switch g.IntN(9) {
	case 0, 1:
		return strconv.Itoa(1950 + g.IntN(75))
	case 2, 3:
		return g.digits(2)
	case 4:
		return g.digits(1)
	case 5:
		return g.digits(3)
	case 6:
		return g.digits(4)
	case 7:
		return pick(g, favourites)
	}
	return g.date()
}

func (g *generator) maybeHandleNumber(n int) string {
	if g.oneIn(n) {
		return g.handleNumber()
	}
	return ""
}

// date returns the day and the month of a birthday, perhaps with the year.
func (g *generator) date() string {
	day, month := strconv.Itoa(1+g.IntN(31)), strconv.Itoa(1+g.IntN(12))
	if g.oneIn(2) {
		day, month = twoDigits(day), twoDigits(month)
	}
	return pick(g, []string{day + month, month + day, g.digits(2) + twoDigits(month) + twoDigits(day),
		twoDigits(day) + twoDigits(month) + strconv.Itoa(1960+g.IntN(50))})
}

func twoDigits(s string) string {
	if len(s) < 2 {
		return "0" + s
	}
	return s
}

func (g *generator) digits(n int) string { return g.from(digitSet, n, n) }

// from returns least to most characters of set.
func (g *generator) from(set string, least, most int) string {
	var b strings.Builder
	for range least + g.IntN(most-least+1) {
		b.WriteByte(set[g.IntN(len(set))])
	}
	return b.String()
}

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
