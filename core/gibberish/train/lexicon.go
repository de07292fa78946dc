package main

import (
	"slices"
	"strings"
)

// lexicon is what local parts are made up from.
type lexicon struct {
	peoples  []people
	towns    [][]string // by country
	words    [][]string // by language
	english  []string
	firsts   []string // first names of every people
	acronyms []string
}

// people is a people's first and last names.
type people struct {
	key         string
	first, last []string
}

func everything(string) bool { return true }

// lexicon takes the peoples, countries and languages that keep lets in.
func (d *data) lexicon(keep func(key string) bool) *lexicon {
	l := &lexicon{
		towns:    d.towns.lists(keep),
		words:    d.words.lists(keep),
		english:  slices.Concat(d.words["en common"], d.words["en"]),
		acronyms: d.names["acronyms"],
	}
	for _, section := range d.names.keys() {
		key, part, isName := strings.Cut(section, " ")
		if isName && keep(key) {
			l.people(key).add(part, d.names[section])
		}
	}
	for i := range l.peoples {
		l.peoples[i].complete()
		l.firsts = append(l.firsts, l.peoples[i].first...)
	}
	return l
}

// people returns the people with this key, the last one or a new one: keys
// come in order.
func (l *lexicon) people(key string) *people {
	if n := len(l.peoples); n == 0 || l.peoples[n-1].key != key {
		l.peoples = append(l.peoples, people{key: key})
	}
	return &l.peoples[len(l.peoples)-1]
}

func (p *people) add(part string, names []string) {
	if part == "last" {
		p.last = append(p.last, names...)
	} else {
		p.first = append(p.first, names...)
	}
}

// complete lends a people without first or last names those it has.
func (p *people) complete() {
	if len(p.first) == 0 {
		p.first = p.last
	}
	if len(p.last) == 0 {
		p.last = p.first
	}
}
