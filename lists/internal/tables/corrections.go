package tables

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	lentFile      = "lent.txt"
	withdrawnFile = "withdrawn.txt"
	endingsFile   = "endings.txt"
)

// corrections are the hand-written exceptions to the rule for the rows of the
// published lists.
type corrections struct {
	ignored   map[string]bool     // names with rows that do not count: ignore.txt
	shared    map[string]bool     // names below which everybody's are: shared.txt
	lenders   map[string]bool     // domains of which some names below are lent: lent.txt
	lent      []string            // those names
	withdrawn map[string]Votes    // votes that do not count: withdrawn.txt
	targets   map[string][]string // first labels of typo targets, by the rest of the target
	labels    map[string]bool     // the same labels
}

func readCorrections(dir string) (c corrections, err error) {
	var errs [5]error
	c.ignored, errs[0] = readNames(dir, "ignore.txt")
	c.shared, errs[1] = readNames(dir, "shared.txt")
	c.lenders, c.lent, errs[2] = readLent(dir)
	c.withdrawn, errs[3] = readWithdrawn(dir)
	var rows []row
	rows, errs[4] = readTable(dir, "typo-targets.txt")
	c.targets, c.labels = map[string][]string{}, map[string]bool{}
	for _, r := range rows {
		if label := firstLabel(r.name); len(label) >= 3 {
			rest := r.name[len(label):]
			c.targets[rest] = append(c.targets[rest], label)
			c.labels[label] = true
		}
	}
	return c, errors.Join(errs[:]...)
}

func readNames(dir, file string) (map[string]bool, error) {
	rows, err := readTable(dir, file)
	names := make(map[string]bool, len(rows))
	for _, r := range rows {
		names[r.name] = true
	}
	return names, err
}

// excludes reports whether the rows of name do not count, not even those with proof: it is
// in ignore.txt or shared.txt, or it belongs to somebody who lends other names below it.
func (c corrections) excludes(name string) bool {
	if c.ignored[name] || c.shared[name] || c.lenders[name] {
		return true
	}
	for parent := Parent(name); parent != ""; parent = Parent(parent) {
		if c.lenders[parent] {
			return !c.shared[parent]
		}
	}
	return false
}

// misspelled reports whether name is one edit away from a typo target: lists
// built from bounced mail contain many such names; no throw-away provider uses one.
func (c corrections) misspelled(name string) bool {
	label := firstLabel(name)
	return slices.ContainsFunc(c.targets[name[len(label):]], func(target string) bool { return oneEdit(label, target) })
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

// readLent reads lent.txt: a domain, the names below it that its owner lends to a
// throw-away service, separated by commas, the day and the reason.
func readLent(dir string) (lenders map[string]bool, lent []string, err error) {
	lenders = map[string]bool{}
	err = eachCorrection(dir, lentFile, func(owner, names string) error {
		if lenders[owner] {
			return fmt.Errorf("%s is listed twice", owner)
		}
		lenders[owner] = true
		for name := range strings.SplitSeq(names, ",") {
			if canonical, err := Canonical(name); err != nil || canonical != name || !strings.HasSuffix(name, "."+owner) {
				return fmt.Errorf("%q is no name below %s in lower case and A-label form", name, owner)
			}
			lent = append(lent, name)
		}
		return nil
	})
	return lenders, lent, err
}

// withdrawable are the letters of the lists without proof.
const withdrawable = "MIB"

// readWithdrawn reads withdrawn.txt: a domain, the letters of the lists that have it but
// should not, the day and the reason.
func readWithdrawn(dir string) (map[string]Votes, error) {
	withdrawn := map[string]Votes{}
	err := eachCorrection(dir, withdrawnFile, func(name, letters string) error {
		switch {
		case withdrawn[name] != "":
			return fmt.Errorf("%s is listed twice", name)
		case strings.Trim(letters, withdrawable) != "":
			return fmt.Errorf("%q are not the letters of lists without proof: want some of %s", letters, withdrawable)
		}
		withdrawn[name] = Votes(letters)
		return nil
	})
	return withdrawn, err
}

// eachCorrection calls do with the first two fields of each line of a table whose lines
// have a domain, a field, a day and a reason.
func eachCorrection(dir, file string, do func(name, field string) error) error {
	return eachLine(filepath.Join(dir, file), func(line string) error {
		f := strings.Fields(line)
		if len(f) < 4 {
			return fmt.Errorf("want a domain, names or letters, a day and a reason, got %q", line)
		}
		if name, err := Canonical(f[0]); err != nil || name != f[0] {
			return fmt.Errorf("%q is no domain in lower case and A-label form", f[0])
		}
		if _, err := time.Parse(time.DateOnly, f[2]); err != nil {
			return fmt.Errorf("%q is not a day: want the form 2026-11-28", f[2])
		}
		return do(f[0], f[1])
	})
}

// readEndings reads endings.txt: top-level domains, each with a note. Package lists looks up
// none of countries; com, net and org would be everybody.
func readEndings(dir string) (endings []string, err error) {
	err = eachLine(filepath.Join(dir, endingsFile), func(line string) error {
		ending, _, _ := strings.Cut(line, " ")
		switch {
		case strings.Trim(ending, "abcdefghijklmnopqrstuvwxyz") != "", len(ending) < 3,
			ending == "com", ending == "net", ending == "org":
			return fmt.Errorf("%q is not allowed: want a top-level domain, but no country's, com, net or org", ending)
		case slices.Contains(endings, ending):
			return fmt.Errorf("%s is listed twice", ending)
		}
		endings = append(endings, ending)
		return nil
	})
	return endings, err
}
