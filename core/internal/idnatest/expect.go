// Package idnatest has what the tests of core and core/idna compare with: the expectation of every
// character in core/idna's version of Unicode.
package idnatest

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed expect.json.gz
var packed []byte

// Expected is what other packages than those that core/idna's tables are generated
// from say about the characters of Version.
type Expected struct {
	Version  string
	Sources  []string
	Classes  map[string][][2]rune // by derived property, ranges from the first to before the second
	Types    map[string][][2]rune // likewise by Joining_Type; U is left out
	Mappings []Mapping
	Viramas  map[rune]bool // canonical combining class 9
	Lower    map[rune]rune // simple lower case, if it is another character beyond ASCII
	Forms    []NFC
}

// NFC is a text with its canonical composition and decomposition.
type NFC struct{ Source, Composed, Decomposed string }

// Mapping is the mapping by UTS #46 of the characters from First to the next one's.
// Status is V, M, I, X (valid, mapped, ignored, disallowed) or D, which counts as V
// without transitional processing.
type Mapping struct {
	First      rune
	Status, To string
}

// Expect reads the expectation.
var Expect = sync.OnceValue(func() *Expected {
	e := new(Expected)
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	if err := json.NewDecoder(z).Decode(e); err != nil {
		panic(err)
	}
	return e
})

// Class returns the derived property of r if a label may contain it: PVALID,
// CONTEXTJ or CONTEXTO; else "".
func (e *Expected) Class(r rune) string { return nameOf(e.Classes, r) }

// Joining returns the Joining_Type of r, "" for U.
func (e *Expected) Joining(r rune) string { return nameOf(e.Types, r) }

func nameOf(ranges map[string][][2]rune, r rune) string {
	for name, all := range ranges {
		i, found := slices.BinarySearchFunc(all, r, func(x [2]rune, r rune) int { return int(x[0] - r) })
		if found || i > 0 && r < all[i-1][1] {
			return name
		}
	}
	return ""
}

// Mapping returns the mapping of r.
func (e *Expected) Mapping(r rune) Mapping {
	i, found := slices.BinarySearchFunc(e.Mappings, r, func(m Mapping, r rune) int { return int(m.First - r) })
	if !found {
		i--
	}
	return e.Mappings[i]
}

// Scalars calls f with every Unicode scalar value.
func Scalars(f func(r rune)) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if utf8.ValidRune(r) {
			f(r)
		}
	}
}
