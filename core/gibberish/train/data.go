package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// lexicon is the words that local parts are generated from.
type lexicon struct {
	cultures []culture
	arabic   culture
	firsts   []string   // first names of all cultures
	towns    [][]string // by country
	words    [][]string // by language
	english  []string
	acronyms []string
	dutch    []string // last names without van, van de and the like, and towns
	surnames []string // of the United States, so of many cultures

	// What Chinese, Korean and Russian handles are made of. The Korean and Russian ones
	// are the Latin letters of the keys. A frequent one is in its list repeatedly.
	syllables sections

	pronounceable []string // names and words with the letters of an address of temp-mail.org
	digest        string   // of the files
}

// culture is the first and last names of one culture.
type culture struct {
	key         string
	first, last []string
}

var (
	alternating = regexp.MustCompile(`^([b-df-hj-np-tv-z][aeiou])+[b-df-hj-np-tv-z]?$`)
	particle    = regexp.MustCompile(`^van(?:het|den|der|de|t|)(.{3,})$`)
)

func read(dir string) (*lexicon, error) {
	l := &lexicon{}
	names, surnames, towns, words, syllables := sections{}, sections{}, sections{}, sections{}, sections{}
	var all []byte
	for _, file := range []struct {
		name string
		into sections
	}{{"names.txt", names}, {"own.txt", names}, {"surnames.txt", surnames}, {"places.txt", towns},
		{"words.txt", words}, {"syllables.txt", syllables}} {
		text, err := os.ReadFile(filepath.Join(dir, file.name))
		if err != nil {
			return nil, err
		}
		if err := file.into.parse(string(text)); err != nil {
			return nil, fmt.Errorf("%s:%w", file.name, err)
		}
		all = append(all, text...)
	}
	l.digest = digestOf(all)
	for _, s := range []sections{names, surnames, towns, words, syllables} {
		for _, w := range slices.Concat(s.lists()...) {
			if len(w) >= 5 && len(w) <= 7 && alternating.MatchString(w) {
				l.pronounceable = append(l.pronounceable, w)
			}
		}
	}
	l.addCultures(names)
	l.towns, l.words = towns.lists(), words.lists()
	l.english = slices.Concat(words["en common"], words["en"])
	l.acronyms, l.surnames, l.syllables = names["acronyms"], surnames["us last"], syllables
	l.dutch = slices.Concat(withoutParticle(names["nl last"]), withoutParticle(names["af last"]), towns["NL"])
	return l, nil
}

// addCultures adds the sections of names, such as "cs first". A culture without first
// names uses its last names as such, and the reverse.
func (l *lexicon) addCultures(names sections) {
	for _, section := range slices.Sorted(maps.Keys(names)) {
		key, part, isName := strings.Cut(section, " ")
		if !isName {
			continue
		}
		if n := len(l.cultures); n == 0 || l.cultures[n-1].key != key {
			l.cultures = append(l.cultures, culture{key: key})
		}
		c := &l.cultures[len(l.cultures)-1]
		if part == "last" {
			c.last = names[section]
		} else {
			c.first = append(c.first, names[section]...)
		}
	}
	for i := range l.cultures {
		c := &l.cultures[i]
		if len(c.first) == 0 {
			c.first = c.last
		}
		if len(c.last) == 0 {
			c.last = c.first
		}
		l.firsts = append(l.firsts, c.first...)
		if c.key == "ar" {
			l.arabic = *c
		}
	}
}

// withoutParticle returns the names that begin with van, van de and the like, without it.
func withoutParticle(names []string) (bare []string) {
	for _, name := range names {
		if m := particle.FindStringSubmatch(name); m != nil {
			bare = append(bare, m[1])
		}
	}
	return bare
}

// sections are lists of words by key: "cs first", "CZ", "cs".
type sections map[string][]string

func (s sections) lists() (all [][]string) {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		all = append(all, s[key])
	}
	return all
}

// parse adds the sections of a file. A section that exists already grows.
func (s sections) parse(text string) error {
	key := ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			key = strings.Trim(line, "[]")
		case key == "" && line != "":
			return fmt.Errorf("%d: a word before the first [section]", i+1)
		default:
			s[key] = append(s[key], strings.Fields(line)...)
		}
	}
	return nil
}
