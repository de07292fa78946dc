package main

import (
	"slices"
	"strings"
)

// lexicon is the words that local parts are generated from.
type lexicon struct {
	cultures []culture
	towns    [][]string // by country
	words    [][]string // by language
	english  []string
	firsts   []string // first names of all cultures
	acronyms []string
	surnames []string // of the United States, so of many cultures
	syllables
}

// culture is the first and last names of one culture.
type culture struct {
	key         string
	first, last []string
}

func everything(string) bool { return true }

// lexicon returns the cultures, countries and languages whose key passes keep.
// English words, acronyms and syllables are always included.
func (d *data) lexicon(keep func(key string) bool) *lexicon {
	l := &lexicon{
		towns:    d.towns.lists(keep),
		words:    d.words.lists(keep),
		english:  slices.Concat(d.words["en common"], d.words["en"]),
		acronyms: d.names["acronyms"],

		syllables: newSyllables(d.syllables),
	}
	if keep("us") {
		l.surnames = d.surnames["us last"]
	}
	for _, section := range d.names.keys() {
		key, part, isName := strings.Cut(section, " ")
		if isName && keep(key) {
			l.culture(key).add(part, d.names[section])
		}
	}
	for i := range l.cultures {
		l.cultures[i].complete()
		l.firsts = append(l.firsts, l.cultures[i].first...)
	}
	return l
}

// culture returns the culture with this key, adding it if it is new. Keys arrive
// sorted, so only the last culture can have it.
func (l *lexicon) culture(key string) *culture {
	if n := len(l.cultures); n == 0 || l.cultures[n-1].key != key {
		l.cultures = append(l.cultures, culture{key: key})
	}
	return &l.cultures[len(l.cultures)-1]
}

func (c *culture) add(part string, names []string) {
	if part == "last" {
		c.last = append(c.last, names...)
	} else {
		c.first = append(c.first, names...)
	}
}

// complete uses last names as first names if c has no first names, and the
// reverse.
func (c *culture) complete() {
	if len(c.first) == 0 {
		c.first = c.last
	}
	if len(c.last) == 0 {
		c.last = c.first
	}
}
