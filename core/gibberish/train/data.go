package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// lexicon is what names are made up from.
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

// load reads the data folder: names.txt, places.txt and words.txt from
// packages, own.txt written by hand. Peoples in skip are left out.
func load(dir string, skip []string) (*lexicon, error) {
	sections := map[string][]string{}
	for _, file := range []string{"names.txt", "own.txt"} {
		if err := read(filepath.Join(dir, file), sections); err != nil {
			return nil, err
		}
	}
	l := &lexicon{acronyms: sections["acronyms"]}
	delete(sections, "acronyms")
	for _, key := range keys(sections) {
		l.addNames(key, sections[key], skip)
	}
	for i := range l.peoples {
		l.peoples[i].complete()
		l.firsts = append(l.firsts, l.peoples[i].first...)
	}
	var err error
	if l.towns, _, err = lists(filepath.Join(dir, "places.txt"), skip); err != nil {
		return nil, err
	}
	l.words, l.english, err = lists(filepath.Join(dir, "words.txt"), skip)
	return l, err
}

// addNames takes a section such as "cs first".
func (l *lexicon) addNames(section string, names, skip []string) {
	key, part, _ := strings.Cut(section, " ")
	if slices.Contains(skip, key) {
		return
	}
	if n := len(l.peoples); n == 0 || l.peoples[n-1].key != key {
		l.peoples = append(l.peoples, people{key: key})
	}
	p := &l.peoples[len(l.peoples)-1]
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

func lists(path string, skip []string) (all [][]string, english []string, err error) {
	sections := map[string][]string{}
	if err := read(path, sections); err != nil {
		return nil, nil, err
	}
	for _, key := range keys(sections) {
		if !slices.Contains(skip, key) {
			all = append(all, sections[key])
		}
	}
	return all, append(slices.Clone(sections["en common"]), sections["en"]...), nil
}

// read adds the sections of a file to those there are.
func read(path string, sections map[string][]string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	key := ""
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			key = strings.Trim(line, "[]")
		case key == "" && line != "":
			return fmt.Errorf("%s:%d: a word before the first [section]", path, i+1)
		default:
			sections[key] = append(sections[key], strings.Fields(line)...)
		}
	}
	return nil
}

func keys(sections map[string][]string) []string {
	var all []string
	for key := range sections {
		all = append(all, key)
	}
	slices.Sort(all)
	return all
}
