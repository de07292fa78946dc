package tables

import (
	"slices"
	"strings"
)

// corrections are the hand-written exceptions to the rule for the rows of the
// published lists.
type corrections struct {
	ignored map[string]bool     // names whose rows do not count: ignore.txt
	shared  map[string]bool     // domains whose entries do not cover subdomains: shared.txt
	targets map[string][]string // first labels of typo targets, by what follows them
	labels  map[string]bool     // the same labels
}

func readCorrections(dir string) (c corrections, err error) {
	if c.ignored, err = readNames(dir, "ignore.txt"); err != nil {
		return c, err
	}
	if c.shared, err = readNames(dir, "shared.txt"); err != nil {
		return c, err
	}
	rows, err := readTable(dir, "typo-targets.txt")
	c.targets, c.labels = map[string][]string{}, map[string]bool{}
	for _, r := range rows {
		if label := firstLabel(r.name); len(label) >= 3 {
			rest := r.name[len(label):]
			c.targets[rest] = append(c.targets[rest], label)
			c.labels[label] = true
		}
	}
	return c, err
}

// misspelled reports whether name is one edit away from a typo target. Lists
// built from bounced mail contain many such names; no throw-away provider uses
// one.
func (c corrections) misspelled(name string) bool {
	label := firstLabel(name)
	for _, target := range c.targets[name[len(label):]] {
		if oneEdit(label, target) {
			return true
		}
	}
	return false
}

// borrowed reports whether name is a provider's name under another ending
// (gmail.net), or has one more ending (gmail.com.co). Such names are misspelled,
// or belong to somebody else; a throw-away provider gains nothing by one.
func (c corrections) borrowed(name string) bool {
	label := firstLabel(name)
	if c.labels[label] && isPublicSuffix(name[len(label)+1:]) {
		return true
	}
	shorter := name[:strings.LastIndexByte(name, '.')]
	label = firstLabel(shorter)
	return slices.Contains(c.targets[shorter[len(label):]], label)
}

// oneEdit reports whether a and b differ by one insertion, deletion,
// substitution or transposition of adjacent letters.
func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i == len(a) {
		return false
	}
	transposed := i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	return a[i+1:] == b[i+1:] || transposed
}

func firstLabel(domain string) string {
	label, _, _ := strings.Cut(domain, ".")
	return label
}

// readNames reads the names of a table of domains as a set.
func readNames(dir, file string) (map[string]bool, error) {
	rows, err := readTable(dir, file)
	names := make(map[string]bool, len(rows))
	for _, r := range rows {
		names[r.name] = true
	}
	return names, err
}
