package tables

import (
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

// readEndings reads endings.txt: top-level domains, each with a note. Package lists looks up
// none of countries; com, net and org would be everybody.
func readEndings(dir string) (endings []string, err error) {
	err = eachLine(filepath.Join(dir, endingsFile), func(line string) error {
		ending, _, _ := strings.Cut(line, " ")
		switch {
		case strings.Trim(ending, "abcdefghijklmnopqrstuvwxyz") != "" || len(ending) < 3 || slices.Contains([]string{"com", "net", "org"}, ending):
			return fmt.Errorf("%q is not allowed: want a top-level domain, but no country's, com, net or org", ending)
		case slices.Contains(endings, ending):
			return fmt.Errorf("%s is listed twice", ending)
		}
		endings = append(endings, ending)
		return nil
	})
	return endings, err
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
