package tables

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ObservedLetter is the letter of observed.txt among the votes.
const ObservedLetter = 'C'

// keptMonths is how long a domain counts after the last day on which the list carried
// it. Burners are given up after weeks, and their names are sold.
const keptMonths = 18

// Observed are the throw-away domains that were seen in real abuse, with the days on which
// a list of the most abused ones carried them. The list itself has those of one day.
type Observed map[string]Days

// Days are the first and the last day on which a list is known to have carried a domain.
type Days struct{ First, Last string }

const observedFile = "observed.txt"

const observedHeader = `# Throw-away domains seen in real abuse (source C of provenance.txt), each with the first
# and, if it is another one, the last day on which the list is known to have carried it.
# Written by "go run ./lists/cmd refresh --observed DIR|URL"; not edited by hand.
`

// ReadObserved reads sources/observed.txt, which may be missing.
func ReadObserved(dir string) (Observed, error) {
	o := Observed{}
	err := eachLine(filepath.Join(dir, "sources", observedFile), func(line string) error {
		f := strings.Fields(line)
		if len(f) != 2 && len(f) != 3 {
			return fmt.Errorf("want a domain and one or two days, got %q", line)
		}
		for _, day := range f[1:] {
			if _, err := time.Parse(time.DateOnly, day); err != nil {
				return err
			}
		}
		o[f[0]] = Days{f[1], f[len(f)-1]}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	return o, err
}

// Text returns the text of observed.txt.
func (o Observed) Text() string {
	var text strings.Builder
	text.WriteString(observedHeader)
	for _, name := range slices.Sorted(maps.Keys(o)) {
		days := o[name].First
		if o[name].Last != days {
			days += " " + o[name].Last
		}
		fmt.Fprintf(&text, "%s %s\n", name, days)
	}
	return text.String()
}

// Add records that the list of a day carries a domain.
func (o Observed) Add(name, day string) {
	days, known := o[name]
	if !known {
		days = Days{day, day}
	}
	o[name] = Days{min(days.First, day), max(days.Last, day)}
}

// Newest returns the day of the newest list, and how many domains it carried.
func (o Observed) Newest() (day string, domains int) {
	for _, days := range o {
		switch {
		case days.Last > day:
			day, domains = days.Last, 1
		case days.Last == day:
			domains++
		}
	}
	return day, domains
}

// Vote returns votes with those of the observed domains, except the expired ones, which the
// list has not carried in the 18 months before a day.
func (o Observed) Vote(votes map[string]Votes, day string) (voted map[string]Votes, expired []string, err error) {
	on, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return nil, nil, err
	}
	since := on.AddDate(0, -keptMonths, 0).Format(time.DateOnly)
	voted = map[string]Votes{}
	maps.Copy(voted, votes)
	for name, days := range o {
		if days.Last < since {
			expired = append(expired, name)
		} else {
			voted[name] += Votes(ObservedLetter)
		}
	}
	slices.Sort(expired)
	return voted, expired, nil
}
