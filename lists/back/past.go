package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/published"
	"github.com/addrspec/addrspec/lists/internal/tables"
)

// past is what was known on a day.
type past struct {
	votes  map[string]tables.Votes
	merged tables.Map
	seen   families // of the names on lists with proof
}

// pastOf merges the hand-written tables in dir with the lists known on day.
func pastOf(dir, day string, h history, s store) (past, error) {
	p := past{votes: map[string]tables.Votes{}}
	for _, source := range published.Sources {
		v, found := h.at(source.Letter, day)
		if !found {
			continue
		}
		names, err := s.names(v.item())
		if err != nil {
			return p, err
		}
		source.Vote(p.votes, names)
	}
	p.seen = familiesOf(p.votes)
	var err error
	p.merged, err = tables.MergeVotes(dir, p.votes)
	return p, err
}

// disposable reports whether the lists of that day had the domain as disposable.
func (p past) disposable(domain string) bool {
	return p.merged.Lookup(domain) == lists.Disposable
}

// withoutHindsight copies the hand-written tables in dir to a temporary folder,
// with an empty disposable.txt.
func withoutHindsight(dir string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return "", err
	}
	to, err := os.MkdirTemp("", "lists-back-")
	if err != nil {
		return "", err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return to, err
		}
		if filepath.Base(path) == "disposable.txt" {
			text = nil
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(path)), text, 0o644); err != nil {
			return to, err
		}
	}
	return to, nil
}

// families counts the names on lists with proof by what one operator's names
// have in common.
type families struct {
	labels map[string]int // first labels of registered domains
	series map[string]int // names with every digit replaced by 0
	below  map[string]int // names below a parent
}

func familiesOf(votes map[string]tables.Votes) families {
	f := families{map[string]int{}, map[string]int{}, map[string]int{}}
	for name, v := range votes {
		if !v.Proven() {
			continue
		}
		f.labels[firstLabel(name)]++
		f.series[digitsAlike(name)]++
		f.below[tables.Parent(name)]++
	}
	return f
}

func firstLabel(name string) string {
	label, _, _ := strings.Cut(name, ".")
	return label
}

// digitsAlike replaces every run of digits with one 0.
func digitsAlike(name string) string {
	var b strings.Builder
	for i := range len(name) {
		isDigit := name[i] >= '0' && name[i] <= '9'
		switch {
		case !isDigit:
			b.WriteByte(name[i])
		case i == 0 || name[i-1] < '0' || name[i-1] > '9':
			b.WriteByte('0')
		}
	}
	return b.String()
}
