package main

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// maker makes up local parts. The same seed gives the same ones.
type maker struct {
	*rand.Rand
	*lexicon
	weights     []float64 // running sum over peoples
	randomKinds []kind
}

func newMaker(seed uint64, l *lexicon) *maker {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 1)), lexicon: l, randomKinds: randomKinds}
	sum := 0.0
	for _, p := range l.peoples { // large lists weigh more, but not by their size
		sum += math.Sqrt(float64(min(len(p.first)+len(p.last), 1000)))
		m.weights = append(m.weights, sum)
	}
	return m
}

// kind is a kind of local part and how often it is made, out of all.
type kind struct {
	name  string
	often int
	make  func(*maker) string
}

func (m *maker) choose(kinds []kind) string {
	all := 0
	for _, k := range kinds {
		all += k.often
	}
	n := m.IntN(all)
	for _, k := range kinds {
		if n -= k.often; n < 0 {
			return k.make(m)
		}
	}
	panic("unreachable")
}

// pick draws one of a list; an empty list has the empty word.
func pick[T any](m *maker, from []T) (one T) {
	if len(from) > 0 {
		one = from[m.IntN(len(from))]
	}
	return one
}

// odds is true once in n.
func (m *maker) odds(n int) bool { return m.IntN(n) == 0 }

func (m *maker) people() *people {
	x := m.Float64() * m.weights[len(m.weights)-1]
	for i, w := range m.weights {
		if x < w {
			return &m.peoples[i]
		}
	}
	return &m.peoples[0]
}

// name picks a first and a last name, of one people as a rule. Towns stand in
// for last names now and then, since surnames sound like them.
func (m *maker) name() (first, last string) {
	p := m.people()
	first, last = pick(m, p.first), pick(m, p.last)
	switch odd := m.IntN(12); {
	case odd == 0:
		last = pick(m, m.people().last)
	case odd == 1 && len(m.towns) > 0:
		last = pick(m, pick(m, m.towns))
	}
	return first, last
}

// word picks a word, English more often than any other language's.
func (m *maker) word() string {
	if m.odds(4) {
		return pick(m, m.english)
	}
	return pick(m, pick(m, m.words))
}

func (m *maker) separator() string { return pick(m, []string{".", ".", ".", "_", "-"}) }

func (m *maker) maybeSeparator() string {
	if m.odds(2) {
		return ""
	}
	return m.separator()
}

// number is a number as people add one: years above all, sometimes a date or
// a telephone number.
func (m *maker) number() string {
	switch m.IntN(11) {
	case 0, 1, 2:
		return strconv.Itoa(1950 + m.IntN(75))
	case 3, 4, 5:
		return m.digits(2)
	case 6, 7:
		return m.digits(1)
	case 8:
		return m.digits(3)
	case 9:
		return m.digits(5 + m.IntN(7))
	}
	return pick(m, []string{m.digits(4), "_" + m.digits(2), "." + m.digits(2), "123", "007", "1234"})
}

func (m *maker) maybeNumber(odds int) string {
	if m.odds(odds) {
		return m.number()
	}
	return ""
}

func (m *maker) digits(n int) string { return m.from(digitSet, n, n) }

// from draws least to most characters of set.
func (m *maker) from(set string, least, most int) string {
	var b strings.Builder
	for range least + m.IntN(most-least+1) {
		b.WriteByte(set[m.IntN(len(set))])
	}
	return b.String()
}
