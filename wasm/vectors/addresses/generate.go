// Package addresses generates addresses of all kinds for tests, and for the packer, which
// records what code they run. It imports nothing of the project: what links core must not
// come with it.
package addresses

import (
	"math/rand/v2"
	"strings"
)

// Generate returns n addresses that depend on the seed only: usual ones, odd
// ones, invalid ones, and some that are not UTF-8.
func Generate(seed uint64, n int) []string {
	g := generator{rand.New(rand.NewPCG(seed, 0))}
	list := make([]string, n)
	for i := range list {
		list[i] = g.address()
	}
	return list
}

type generator struct{ *rand.Rand }

// address returns a local part and a domain, damaged in one case out of three.
func (g generator) address() string {
	s := g.local() + "@" + g.domain()
	if g.IntN(3) > 0 {
		return s
	}
	for range 1 + g.IntN(3) {
		s = g.damage(s)
	}
	return s
}

// local returns a local part: a word, two words, random letters, or an odd form
// of RFC 5322 or RFC 6531.
func (g generator) local() string {
	switch g.IntN(8) {
	case 0, 1:
		return g.of(words)
	case 2, 3:
		return g.of(words) + g.of(joints) + g.of(words)
	case 4:
		return g.of(words) + "+" + g.random(1+g.IntN(6))
	case 5:
		return g.random(1 + g.IntN(24))
	case 6:
		return g.of(odd) + g.of(words)
	default:
		return g.of(odd)
	}
}

// domain returns a provider, a misspelling of one, a name under one of several
// kinds of top-level domain, a literal, or labels at their limits.
func (g generator) domain() string {
	switch g.IntN(6) {
	case 0:
		return g.of(providers)
	case 1:
		return g.misspell(g.of(providers))
	case 2:
		return g.of(words) + "." + g.of(topLevels)
	case 3:
		return g.random(1+g.IntN(66)) + "." + g.of(topLevels)
	case 4:
		return g.of(words) + g.of(joints) + g.of(words) + "." + g.of(topLevels)
	default:
		return g.of(oddDomains)
	}
}

// of returns a random element of list.
func (g generator) of(list []string) string { return list[g.IntN(len(list))] }

const letters = "abcdefghijklmnopqrstuvwxyz0123456789"

// random returns n random letters and digits.
func (g generator) random(n int) string {
	var s strings.Builder
	for range n {
		s.WriteByte(letters[g.IntN(len(letters))])
	}
	return s.String()
}

// misspell transposes two letters of s, or doubles, drops or replaces one.
func (g generator) misspell(s string) string {
	i := g.IntN(len(s) - 1)
	switch g.IntN(4) {
	case 0:
		return s[:i] + s[i+1:i+2] + s[i:i+1] + s[i+2:]
	case 1:
		return s[:i] + s[i:i+1] + s[i:]
	case 2:
		return s[:i] + s[i+1:]
	default:
		return s[:i] + g.random(1) + s[i+1:]
	}
}

// damage truncates s, changes its case, or inserts something that is rarely
// valid there.
func (g generator) damage(s string) string {
	i := g.IntN(len(s) + 1)
	switch g.IntN(5) {
	case 0:
		return s[:i]
	case 1:
		return s[:i] + string([]byte{byte(g.IntN(256))}) + s[i:]
	case 2:
		return s[:i] + strings.ToUpper(s[i:])
	default:
		return s[:i] + g.of(pieces) + s[i:]
	}
}
