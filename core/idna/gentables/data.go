package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"log"
	"slices"
	"strconv"
	"strings"
)

//go:embed unicode.txt.gz
var packed []byte

// character has the properties of an assigned character.
type character struct {
	category, bidi, joining, script string
	class                           uint32 // canonical combining class
	unstable                        bool   // RFC 5892 section 2.2, or ignored by NFKC_Casefold
}

// mapping is the status of a character in UTS #46, and what it is mapped to.
type mapping struct {
	status string
	to     string
}

// The statuses of UTS #46, with the numbers of npm tr46.
const (
	uts46Mapped     = "1"
	uts46Valid      = "2"
	uts46Disallowed = "3"
	uts46Deviation  = "6"
	uts46Ignored    = "7"
)

// The contents of unicode.txt.gz.
var (
	unicodeVersion string
	characters     = map[rune]*character{}
	lower          = map[rune]rune{}
	mappings       = map[rune]*mapping{}
	decomposed     []pair // sorted
	composed       = map[[2]rune]rune{}
)

func init() {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		log.Fatal("gentables: ", err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		log.Fatal("gentables: ", err)
	}
	fmt.Sscanf(string(text), "# Unicode %s", &unicodeVersion)
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if f := strings.Fields(lines.Text()); f[0] != "#" {
			read(f)
		}
	}
}

// read reads a line; core/idna/gather/snapshot.go has the format.
func read(f []string) {
	switch f[0] {
	case "p":
		class, err := strconv.ParseUint(f[4], 10, 8)
		if err != nil {
			log.Fatal("gentables: ", err)
		}
		each(f, characters, &character{f[3], f[5], f[6], f[7], uint32(class), f[8] == "1"})
	case "l":
		lower[hex(f[1])] = hex(f[2])
	case "d":
		p := pair{composed: hex(f[1]), first: hex(f[3])}
		if len(f) == 5 {
			p.second = hex(f[4])
		}
		decomposed = append(decomposed, p)
		if f[2] == "0" {
			composed[[2]rune{p.first, p.second}] = p.composed
		}
	case "m":
		m := &mapping{status: f[3]}
		for _, r := range f[4:] {
			m.to += string(hex(r))
		}
		each(f, mappings, m)
	}
}

// each sets the values of the characters from f[1] to f[2].
func each[T any](f []string, all map[rune]*T, value *T) {
	for r := hex(f[1]); r <= hex(f[2]); r++ {
		all[r] = value
	}
}

func hex(s string) rune {
	n, err := strconv.ParseInt(s, 16, 32)
	if err != nil {
		log.Fatal("gentables: ", err)
	}
	return rune(n)
}

// propertiesOf returns the properties of r, those of an unassigned character if it
// is one.
func propertiesOf(r rune) *character {
	if c := characters[r]; c != nil {
		return c
	}
	return &character{category: "Cn"}
}

// nfd returns the canonical decomposition of r, which is no Hangul syllable.
func nfd(r rune) []rune {
	i, found := slices.BinarySearchFunc(decomposed, r, func(p pair, r rune) int { return int(p.composed - r) })
	if !found {
		return []rune{r}
	}
	all := nfd(decomposed[i].first)
	if second := decomposed[i].second; second != 0 {
		all = append(all, nfd(second)...)
	}
	return all
}

// compose returns the canonical composition of a decomposed character (Unicode
// section 3.11).
func compose(all []rune) string {
	result := all[:1:1]
	for _, r := range all[1:] {
		class, last := propertiesOf(r).class, propertiesOf(result[len(result)-1]).class
		if c := composed[[2]rune{result[0], r}]; c != 0 && (len(result) == 1 || last < class) {
			result[0] = c
			continue
		}
		result = append(result, r)
	}
	return string(result)
}
