package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// uts46 returns the mapping of r by UTS #46, non-transitional, with STD3 rules,
// and whether r is allowed.
func uts46(r rune) (string, bool) {
	m := mappings[r]
	switch {
	case m == nil || m.status == uts46Disallowed:
		return "", false
	case m.status == uts46Ignored:
		return "", true
	case m.status == uts46Mapped:
		return m.to, m.to == "." || !strings.ContainsFunc(m.to, isSpecial)
	}
	return string(r), true
}

// isSpecial reports whether r is an ASCII character that STD3 does not allow.
func isSpecial(r rune) bool {
	return r < 0x80 && !(r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z')
}

// caseRange maps each of first, first+step, ..., last to itself plus delta.
type caseRange struct{ first, last, step, delta rune }

// runs combines mappings of single characters, sorted by from, into ranges.
func runs(from, to []rune) (ranges []caseRange) {
	for i := 0; i < len(from); {
		r := caseRange{from[i], from[i], 1, to[i] - from[i]}
		j := i + 1
		if j < len(from) && to[j]-from[j] == r.delta && from[j]-from[i] <= 2 {
			r.step = from[j] - from[i]
		}
		for ; j < len(from) && to[j]-from[j] == r.delta && from[j]-r.last == r.step; j++ {
			r.last = from[j]
		}
		ranges = append(ranges, r)
		i = j
	}
	return ranges
}

func writeRanges(b *bytes.Buffer, name, doc string, ranges []caseRange) {
	fmt.Fprintf(b, "// %s\nvar %s = [...]runeRange{ // %d\n", doc, name, len(ranges))
	for _, r := range ranges {
		fmt.Fprintf(b, "{%#x, %#x, %d, %d},\n", r.first, r.last, r.step, r.delta)
	}
	fmt.Fprintf(b, "}\n\n")
}

func writeLower(b *bytes.Buffer) {
	var from, to []rune
	scalars(func(r rune) {
		if l := lowerOf(r); l != r {
			from, to = append(from, r), append(to, l)
		}
	})
	writeRanges(b, "lowerRanges", "lowerRanges are the simple lower-case mappings beyond ASCII.", runs(from, to))
}

// lowerOf returns the simple lower case of r; r itself if it has a canonical
// decomposition, whose characters are mapped instead.
func lowerOf(r rune) rune {
	if l := lower[r]; l != 0 && len(nfd(r)) == 1 && nfd(r)[0] == r {
		return l
	}
	return r
}

// pair is one step of a canonical decomposition; second is 0 if first replaces
// composed alone.
type pair struct{ composed, first, second rune }

// writeDecompositions writes the canonical decompositions, one step each, and the
// compositions, as their indexes. Hangul syllables are left out, since package idna
// computes them.
func writeDecompositions(b *bytes.Buffer) {
	fmt.Fprintf(b, "// decompositions are the canonical decompositions, sorted by character.\nvar decompositions = [...]decomposition{ // %d\n", len(decomposed))
	for _, p := range decomposed {
		fmt.Fprintf(b, "{%#x, %#x, %#x},\n", p.composed, p.first, p.second)
	}
	fmt.Fprintf(b, "}\n\n")
	composing := compositions(decomposed)
	fmt.Fprintf(b, "// compositions are the indexes of the decompositions that NFC composes again, sorted by first and second character.\nvar compositions = [...]uint16{ // %d\n", len(composing))
	for _, i := range composing {
		fmt.Fprintf(b, "%d,\n", i)
	}
	fmt.Fprintf(b, "}\n\n")
}

// compositions returns the indexes of the pairs that NFC composes, sorted by
// first and second.
func compositions(all []pair) (composing []int) {
	for i, p := range all {
		if composed[[2]rune{p.first, p.second}] == p.composed {
			composing = append(composing, i)
		}
	}
	slices.SortFunc(composing, func(i, j int) int {
		return cmp.Or(cmp.Compare(all[i].first, all[j].first), cmp.Compare(all[i].second, all[j].second))
	})
	return composing
}

// writeMappings writes the mappings of UTS #46 that differ from the NFC of the
// lower case.
func writeMappings(b *bytes.Buffer) {
	var from, to []rune
	var longFrom []rune
	var longTo []string
	scalars(func(r rune) {
		m, ok := uts46(r)
		if !ok || m == "" || m == string(r) || m == plain(r) {
			return
		}
		if rs := []rune(m); len(rs) == 1 {
			from, to = append(from, r), append(to, rs[0])
		} else {
			longFrom, longTo = append(longFrom, r), append(longTo, m)
		}
	})
	writeRanges(b, "mappedRanges", "mappedRanges are the mappings of UTS #46 to one character, beyond lower case and NFC.", runs(from, to))
	fmt.Fprintf(b, "// mappedStrings are the mappings of UTS #46 to several characters.\nvar mappedStrings = [...]runeString{ // %d\n", len(longFrom))
	for i, r := range longFrom {
		fmt.Fprintf(b, "{%#x, %+q},\n", r, longTo[i])
	}
	fmt.Fprintf(b, "}\n\n")
}

// plain returns the NFC of the lower case of r, which package idna uses if there
// is no mapping.
func plain(r rune) string {
	var lowered []rune
	for _, d := range nfd(r) {
		lowered = append(lowered, lowerOf(d))
	}
	return compose(lowered)
}
