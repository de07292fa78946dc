package tables

import "strings"

// doubts is what is held against the rows of the published lists.
type doubts struct {
	ignored map[string]bool     // not believed: ignore.txt
	shared  map[string]bool     // the names below belong to others: shared.txt
	targets map[string][]string // typo targets by their ending
}

func readDoubts(dir string) (d doubts, err error) {
	if d.ignored, err = names(dir, "ignore.txt"); err != nil {
		return d, err
	}
	if d.shared, err = names(dir, "shared.txt"); err != nil {
		return d, err
	}
	rows, err := readTable(dir, "typo-targets.txt")
	d.targets = map[string][]string{}
	for _, r := range rows {
		if label := firstLabel(r.name); len(label) >= 3 {
			ending := r.name[len(label):]
			d.targets[ending] = append(d.targets[ending], label)
		}
	}
	return d, err
}

// misspelled reports whether name is one slip away from a typo target. Lists
// that gather what bounces hold many such names; nobody lends mailboxes there.
func (d doubts) misspelled(name string) bool {
	label := firstLabel(name)
	for _, target := range d.targets[name[len(label):]] {
		if oneSlip(label, target) {
			return true
		}
	}
	return false
}

// oneSlip reports whether one letter inserted, left out, replaced or swapped
// with its neighbour makes b of a.
func oneSlip(a, b string) bool {
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
	swapped := i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	return a[i+1:] == b[i+1:] || swapped
}

func firstLabel(domain string) string {
	label, _, _ := strings.Cut(domain, ".")
	return label
}

// names reads a table as a set.
func names(dir, file string) (map[string]bool, error) {
	rows, err := readTable(dir, file)
	set := make(map[string]bool, len(rows))
	for _, r := range rows {
		set[r.name] = true
	}
	return set, err
}
