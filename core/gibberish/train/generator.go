package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// generator generates local parts. The same seed gives the same ones.
type generator struct {
	*rand.Rand
	*lexicon
	cumulative []float64 // weights of the cultures, summed up
}

func newGenerator(seed uint64, l *lexicon) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), lexicon: l}
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

// localPart generates a local part of one of the kinds, of shortest to 64 characters.
func (g *generator) localPart(kinds []kind, shortest int) string {
	all := 0
	for _, k := range kinds {
		all += k.weight
	}
	for {
		n, i := g.IntN(all), 0
		for n >= kinds[i].weight {
			n -= kinds[i].weight
			i++
		}
		if s := kinds[i].make(g); len(s) >= shortest && len(s) <= 64 {
			return s
		}
	}
}

// pick returns a random element of from, or the zero value if from is empty.
func pick[T any](g *generator, from []T) (one T) {
	if len(from) > 0 {
		one = from[g.IntN(len(from))]
	}
	return one
}

func (g *generator) oneIn(n int) bool { return g.IntN(n) == 0 }

// between returns least to most, without drawing if they are the same.
func (g *generator) between(least, most int) int {
	if least == most {
		return least
	}
	return least + g.IntN(most-least+1)
}

func cut(s string, n int) string { return s[:min(len(s), n)] }

func backwards(w string) string {
	b := []byte(w)
	slices.Reverse(b)
	return string(b)
}

func (g *generator) culture() *culture {
	x := g.Float64() * g.cumulative[len(g.cumulative)-1]
	i := slices.IndexFunc(g.cumulative, func(sum float64) bool { return x < sum })
	return &g.cultures[max(i, 0)]
}

// name picks a first and a last name, usually of one culture. Three last names
// in ten are from the census, with a third of their first names; others are of
// another culture, or a town's, since surnames resemble towns.
func (g *generator) name() (first, last string) {
	c := g.culture()
	first, last = pick(g, c.first), pick(g, c.last)
	if g.IntN(10) < 3 {
		if g.oneIn(3) {
			first = pick(g, g.surnames)
		}
		return first, pick(g, g.surnames)
	}
	switch g.IntN(12) {
	case 0:
		last = pick(g, g.culture().last)
	case 1:
		last = g.town()
	}
	return first, last
}

func (g *generator) anyName() string {
	first, last := g.name()
	if g.oneIn(2) {
		return first
	}
	return last
}

// word picks a word: English one time in four, otherwise of any language.
func (g *generator) word() string {
	if g.oneIn(4) {
		return pick(g, g.english)
	}
	return pick(g, pick(g, g.words))
}

func (g *generator) town() string { return pick(g, pick(g, g.towns)) }

func (g *generator) anyWord() string {
	switch g.IntN(6) {
	case 0, 1, 2:
		return g.anyName()
	case 3:
		return pick(g, g.english)
	case 4:
		return g.word()
	}
	return g.town()
}

func (g *generator) syllable() string { return pick(g, g.syllables["pinyin"]) }

// initials returns the first letters of n names, words or Chinese syllables.
func (g *generator) initials(n int) (s string) {
	of := pick(g, []func() string{g.anyName, g.word, g.syllable, g.anyWord})
	for range n {
		s += cut(of(), 1)
	}
	return s
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
		return g.year()
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

// maybe returns what make returns one time in n, otherwise "".
func (g *generator) maybe(n int, make func() string) string {
	if g.oneIn(n) {
		return make()
	}
	return ""
}

func (g *generator) maybeNumber(n int) string { return g.maybe(n, g.number) }

func (g *generator) maybeHandleNumber(n int) string { return g.maybe(n, g.handleNumber) }

// handleNumber returns a number as handles have it: a year, a date, one to four
// digits or a favourite.
func (g *generator) handleNumber() string {
	switch n := g.IntN(9); n {
	case 0, 1:
		return g.year()
	case 2, 3, 4, 5, 6:
		return g.digits([]int{2, 2, 1, 3, 4}[n-2])
	case 7:
		return pick(g, favourites)
	}
	return g.date()
}

func (g *generator) year() string { return strconv.Itoa(1950 + g.IntN(75)) }

// date returns the day and the month of a birthday, perhaps with the year.
func (g *generator) date() string {
	day, month := strconv.Itoa(1+g.IntN(31)), strconv.Itoa(1+g.IntN(12))
	if g.oneIn(2) {
		day, month = twoDigits(day), twoDigits(month)
	}
	return pick(g, []string{day + month, month + day, g.digits(2) + twoDigits(month) + twoDigits(day),
		twoDigits(day) + twoDigits(month) + strconv.Itoa(1960+g.IntN(50))})
}

func twoDigits(s string) string { return strings.Repeat("0", max(0, 2-len(s))) + s }

func (g *generator) digits(n int) string { return g.from(digitSet, n, n) }

func (g *generator) from(set string, least, most int) string {
	var b strings.Builder
	for range least + g.IntN(most-least+1) {
		b.WriteByte(set[g.IntN(len(set))])
	}
	return b.String()
}
