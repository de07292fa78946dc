package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// data is the content of the data folder: own.txt is written by hand, the other
// files come from packages.
type data struct {
	names, surnames, towns, words, syllables sections

	digest string // of the files
}

// sections are lists of words by key: "cs first", "CZ", "cs".
type sections map[string][]string

func read(dir string) (*data, error) {
	d := &data{names: sections{}, surnames: sections{}, towns: sections{}, words: sections{}, syllables: sections{}}
	var all []byte
	for _, file := range []struct {
		name string
		into sections
	}{{"names.txt", d.names}, {"own.txt", d.names}, {"surnames.txt", d.surnames}, {"places.txt", d.towns},
		{"words.txt", d.words}, {"syllables.txt", d.syllables}} {
		text, err := os.ReadFile(filepath.Join(dir, file.name))
		if err != nil {
			return nil, err
		}
		if err := file.into.parse(string(text)); err != nil {
			return nil, fmt.Errorf("%s:%w", file.name, err)
		}
		all = append(all, text...)
	}
	d.digest = digestOf(all)
	return d, nil
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

// keys returns the keys in sorted order, so that every run uses the same one.
func (s sections) keys() []string {
	var all []string
	for key := range s {
		all = append(all, key)
	}
	slices.Sort(all)
	return all
}

// lists returns the sections whose key passes keep, sorted by key.
func (s sections) lists(keep func(key string) bool) (all [][]string) {
	for _, key := range s.keys() {
		if keep(key) {
			all = append(all, s[key])
		}
	}
	return all
}
