package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// sections are sets of words by key. The key is a language or a country; for
// names it also has the part of the name: "cs first".
type sections map[string]set

type set map[string]bool

// add adds words to a section as they would be typed in an address: with
// umlauts spelled out and in each romanization of the section's language.
func (s sections) add(section string, words ...string) {
	if s[section] == nil {
		s[section] = set{}
	}
	language, _, _ := strings.Cut(section, " ")
	for _, word := range words {
		s[section].add(umlauts.Replace(strings.ToLower(word)), usual[0])
		for _, romanize := range schemesOf(language) {
			s[section].add(word, romanize)
		}
	}
}

// add adds word, romanized, if it has 2 to 20 letters.
func (s set) add(word string, romanize scheme) {
	if w := romanize.latin(word); len(w) >= 2 && len(w) <= 20 {
		s[w] = true
	}
}

// thin returns every n-th word, with the least n that leaves limit words or
// fewer.
func thin(words []string, limit int) []string {
	n := (len(words) + limit - 1) / limit
	if n <= 1 {
		return words
	}
	var kept []string
	for i := 0; i < len(words); i += n {
		kept = append(kept, words[i])
	}
	return kept
}

// lists are words in order by key, repeated if one is more frequent.
type lists map[string][]string

// lists returns the sections of eight or more words, sorted.
func (s sections) lists() lists {
	l := lists{}
	for section, words := range s {
		if len(words) >= 8 {
			l[section] = sorted(words)
		}
	}
	return l
}

// write writes the lists to a file, sorted by key, in lines of up to 100
// characters.
func (l lists) write(path string) error {
	var b strings.Builder
	for _, section := range sorted(l) {
		fmt.Fprintf(&b, "[%s]", section)
		column := 100
		for _, w := range l[section] {
			if column += 1 + len(w); column > 100 {
				b.WriteString("\n")
				column = len(w)
			} else {
				b.WriteString(" ")
			}
			b.WriteString(w)
		}
		b.WriteString("\n")
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
