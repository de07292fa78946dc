package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

var mapper = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.ValidateLabels(false), idna.StrictDomainName(true))

// uts46 returns the mapping of r by UTS #46, non-transitional, with STD3 rules,
// and whether r is allowed. It maps r between two digits, which prevent
// composition and the rules for the ends of a label.
func uts46(r rune) (string, bool) {
	if r == 0x1E9E {
		return "ß", true // as in UTS #46 since revision 33 and in IDNA2008; ss before
	}
	s, err := mapper.ToUnicode("0" + string(r) + "0")
	if err != nil {
		return "", false
	}
	return strings.TrimSuffix(strings.TrimPrefix(s, "0"), "0"), true
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
	if norm.NFD.String(string(r)) != string(r) {
		return r
	}
	return unicode.ToLower(r)
}

// pair is one step of a canonical decomposition; second is 0 if first replaces
// composed alone.
type pair struct{ composed, first, second rune }

// writeDecompositions writes the canonical decompositions, one step each, and the
// compositions, as their indexes.
func writeDecompositions(b *bytes.Buffer) {
	all := decompositions()
	fmt.Fprintf(b, "// decompositions are the canonical decompositions, sorted by character.\nvar decompositions = [...]decomposition{ // %d\n", len(all))
	for _, p := range all {
		fmt.Fprintf(b, "{%#x, %#x, %#x},\n", p.composed, p.first, p.second)
	}
	fmt.Fprintf(b, "}\n\n")
	composing := compositions(all)
	fmt.Fprintf(b, "// compositions are the indexes of the decompositions that NFC composes again, sorted by first and second character.\nvar compositions = [...]uint16{ // %d\n", len(composing))
	for _, i := range composing {
		fmt.Fprintf(b, "%d,\n", i)
	}
	fmt.Fprintf(b, "}\n\n")
}

// decompositions returns the first step of each canonical decomposition; package
// idna decomposes the first character of it again. Hangul syllables are left out,
// since package idna computes them.
func decompositions() (all []pair) {
	scalars(func(r rune) {
		if r >= 0xAC00 && r <= 0xD7A3 {
			return
		}
		d := norm.NFD.Properties([]byte(string(r))).Decomposition()
		if d == nil {
			return
		}
		rs := []rune(string(d))
		p := pair{composed: r, first: rs[0]}
		if n := len(rs); n > 1 {
			p.second = rs[n-1]
			p.first = firstOf(string(rs[:n-1]))
		}
		all = append(all, p)
	})
	return all
}

// compositions returns the indexes of the pairs that NFC composes, sorted by
// first and second.
func compositions(all []pair) (composing []int) {
	for i, p := range all {
		if p.second != 0 && norm.NFC.String(string([]rune{p.first, p.second})) == string(p.composed) {
			composing = append(composing, i)
		}
	}
	slices.SortFunc(composing, func(i, j int) int {
		return cmp.Or(cmp.Compare(all[i].first, all[j].first), cmp.Compare(all[i].second, all[j].second))
	})
	return composing
}

// firstOf returns the character that decomposes into s, which is a decomposition
// without its last character.
func firstOf(s string) rune {
	if rs := []rune(s); len(rs) == 1 {
		return rs[0]
	}
	if rs := []rune(norm.NFC.String(s)); len(rs) == 1 {
		return rs[0]
	}
	found := rune(-1)
	scalars(func(r rune) { // U+FB49 and others that NFC does not compose
		if norm.NFD.String(string(r)) == s {
			found = r
		}
	})
	if found < 0 {
		panic(fmt.Sprintf("gentables: no character decomposes into %+q", s))
	}
	return found
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
	for _, d := range norm.NFD.String(string(r)) {
		if d < 0x80 {
			d = unicode.ToLower(d)
		} else {
			d = lowerOf(d)
		}
		lowered = append(lowered, d)
	}
	return norm.NFC.String(string(lowered))
}
