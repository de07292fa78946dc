package core

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A small engine for ABNF (RFC 5234). It parses rules, matches texts against a
// rule and generates texts that a rule derives. It is slow and general, and shares
// no code with the parser that it is compared with.

// node is an element of a grammar: a sequence, a choice, a repetition, the name
// of a rule, a string, or a class of characters.
type node struct {
	kind     byte // 's', 'c', 'r', 'n', '"', '?'
	kids     []*node
	min, max int // of a repetition
	text     string
	class    func(rune) bool
	examples string
}

// abnf is a grammar: its rules by name.
type abnf map[string]*node

// add parses rules, one per line.
func (g abnf) add(rules string) {
	for line := range strings.Lines(rules) {
		if name, body, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			r := reader{body}
			g[strings.TrimSpace(name)] = r.choice()
		}
	}
}

// addClass adds a rule for one character, with examples for derive.
func (g abnf) addClass(name, examples string, class func(rune) bool) {
	g[name] = &node{kind: '?', class: class, examples: examples}
}

// reader parses the right side of a rule.
type reader struct{ rest string }

func (r *reader) skip() { r.rest = strings.TrimLeft(r.rest, " ") }

func (r *reader) take(c string) bool {
	r.skip()
	rest, ok := strings.CutPrefix(r.rest, c)
	r.rest = rest
	return ok
}

func (r *reader) choice() *node {
	n := &node{kind: 'c', kids: []*node{r.sequence()}}
	for r.take("/") {
		n.kids = append(n.kids, r.sequence())
	}
	return n
}

func (r *reader) sequence() *node {
	n := &node{kind: 's'}
	for r.skip(); r.rest != "" && !strings.ContainsRune("/)]", rune(r.rest[0])); r.skip() {
		n.kids = append(n.kids, r.repetition())
	}
	return n
}

func (r *reader) repetition() *node {
	low, star := r.number(), r.take("*")
	high := r.number()
	if low < 0 && !star {
		return r.element()
	}
	if !star {
		high = low
	}
	return &node{kind: 'r', min: max(low, 0), max: high, kids: []*node{r.element()}}
}

// number parses a decimal number; -1 if there is none.
func (r *reader) number() int {
	n := len(r.rest) - len(strings.TrimLeft(r.rest, "0123456789"))
	digits := r.rest[:n]
	r.rest = r.rest[n:]
	if n == 0 {
		return -1
	}
	value, _ := strconv.Atoi(digits)
	return value
}

func (r *reader) element() *node {
	switch {
	case r.take("("):
		n := r.choice()
		r.take(")")
		return n
	case r.take("["):
		n := &node{kind: 'r', max: 1, kids: []*node{r.choice()}}
		r.take("]")
		return n
	case r.take(`"`):
		text, rest, _ := strings.Cut(r.rest, `"`)
		r.rest = rest
		return &node{kind: '"', text: text}
	}
	n := strings.IndexAny(r.rest+" ", " )]/")
	name := r.rest[:n]
	r.rest = r.rest[n:]
	return &node{kind: 'n', text: name}
}

// matcher matches elements of a grammar against a text.
type matcher struct {
	grammar abnf
	text    string
	known   map[start][]int // the ends of a rule
}

type start struct {
	rule string
	at   int
}

// derives reports whether rule derives the whole of text.
func (g abnf) derives(rule, text string) bool {
	m := matcher{g, text, map[start][]int{}}
	return slices.Contains(m.ends(&node{kind: 'n', text: rule}, 0), len(text))
}

// ends returns every offset where n can end if it begins at offset at, sorted.
func (m *matcher) ends(n *node, at int) (ends []int) {
	switch n.kind {
	case '?':
		if r, size := utf8.DecodeRuneInString(m.text[at:]); size > 0 && (r != utf8.RuneError || size > 1) && n.class(r) {
			return []int{at + size}
		}
	case '"':
		if end := at + len(n.text); end <= len(m.text) && strings.EqualFold(m.text[at:end], n.text) {
			return []int{end}
		}
	case 'n':
		return m.ruleEnds(n.text, at)
	case 'c':
		for _, kid := range n.kids {
			ends = append(ends, m.ends(kid, at)...)
		}
	case 's':
		ends = []int{at}
		for _, kid := range n.kids {
			ends = m.endsOfAll(kid, ends)
		}
	case 'r':
		ends = m.repeatedEnds(n, at)
	}
	return sorted(ends)
}

func (m *matcher) ruleEnds(rule string, at int) []int {
	key := start{rule, at}
	ends, ok := m.known[key]
	if !ok {
		ends = m.ends(m.grammar[rule], at)
		m.known[key] = ends
	}
	return ends
}

func (m *matcher) endsOfAll(n *node, starts []int) (ends []int) {
	for _, at := range starts {
		ends = append(ends, m.ends(n, at)...)
	}
	return sorted(ends)
}

func (m *matcher) repeatedEnds(n *node, at int) (ends []int) {
	starts := []int{at}
	for i := 0; len(starts) > 0; i++ {
		if i >= n.min {
			before := len(ends)
			if ends = sorted(append(ends, starts...)); len(ends) == before {
				return ends
			}
		}
		if i == n.max {
			return ends
		}
		starts = m.endsOfAll(n.kids[0], starts)
	}
	return ends
}

func sorted(s []int) []int {
	slices.Sort(s)
	return slices.Compact(s)
}

// derive generates a random text that n derives, mostly a short one.
func (g abnf) derive(n *node, random *rand.Rand, depth int) string {
	switch n.kind {
	case '?':
		rs := []rune(n.examples)
		return string(rs[random.IntN(len(rs))])
	case '"':
		return n.text
	case 'n':
		return g.derive(g[n.text], random, depth+1)
	case 'c':
		return g.derive(n.kids[random.IntN(len(n.kids))], random, depth)
	}
	count := 1
	if n.kind == 'r' {
		count = n.min
		for (n.max < 0 || count < n.max) && random.IntN(3+depth/4) == 0 {
			count++
		}
	}
	var s strings.Builder
	for range count {
		for _, kid := range n.kids {
			s.WriteString(g.derive(kid, random, depth))
		}
	}
	return s.String()
}
