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

func (g *generator) digits(n int) string { return g.from(digitSet, n, n) }

// from returns least to most characters of set.
func (g *generator) from(set string, least, most int) string {
	var b strings.Builder
	for range least + g.IntN(most-least+1) {
		b.WriteByte(set[g.IntN(len(set))])
	}
	return b.String()
}
