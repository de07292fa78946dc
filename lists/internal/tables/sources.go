package tables

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/lists"
)

// ownTables are the tables of domains of this project, which carry entries beside the
// published lists.
var ownTables = []string{"relay.txt", "public.txt", "allow.txt", "disposable.txt", "no-reply.txt", "known.txt", "near.txt"}

// Carriers has the sources that carry each name.
type Carriers struct {
	Sources []lists.Source
	bits    map[string]uint32 // bit i: the name is on Sources[i]
}

// Of returns the sources that carry name: bit i for Sources[i].
func (c *Carriers) Of(name string) uint32 { return c.bits[name] }

// ReadCarriers reads the tables in dir and the published lists, which carry the names that
// sources/domains.txt has for them.
func ReadCarriers(dir string) (*Carriers, error) {
	c := &Carriers{bits: map[string]uint32{}}
	add := func(file string, names []string) {
		for _, name := range names {
			c.bits[name] |= 1 << len(c.Sources)
		}
		c.Sources = append(c.Sources, lists.Source{Name: "addrspec/" + file, Domains: strconv.Itoa(len(names))})
	}
	for _, file := range ownTables {
		names, err := readNames(dir, file)
		if err != nil {
			return nil, err
		}
		add(file, slices.Collect(maps.Keys(names)))
	}
	_, lent, err1 := readLent(dir)
	add(lentFile, lent)
	endings, err2 := readEndings(dir)
	add(endingsFile, endings)
	c.Sources = append(c.Sources, lists.Source{Name: lists.SelfNamedSource})
	published, err3 := ReadProvenance(dir)
	votes, err4 := readVotes(dir)
	for _, s := range published {
		for name, v := range votes {
			if v.Any(s.Letter) {
				c.bits[name] |= 1 << len(c.Sources)
			}
		}
		name, version := s.Package, ""
		if at := strings.LastIndexByte(name, '@'); at > 0 {
			name, version = name[:at], name[at+1:]
		}
		c.Sources = append(c.Sources, lists.Source{Name: s.Registry + ":" + name, Version: version,
			Licence: s.Licence, Day: s.Fetched, Domains: s.Count})
	}
	return c, errors.Join(err1, err2, err3, err4)
}

// Source is one published list: a row of sources/provenance.txt.
type Source struct {
	Letter    string // its mark in sources/domains.txt
	Registry  string // npm or pypi
	Package   string // name@version
	Licence   string
	Fetched   string // the day this version was first fetched, 2026-11-20
	Count     string // of its domains, before the merge rule
	Integrity string // of the package's archive, as the registry publishes it
	Remark    string
}

// ReadProvenance reads the published lists in sources/provenance.txt.
func ReadProvenance(dir string) ([]Source, error) {
	sources, _, err := readProvenance(dir)
	return sources, err
}

// ReadChecked returns the day on which the registries were last asked for new
// versions, as 2026-11-20. The age of the lists counts from it.
func ReadChecked(dir string) (string, error) {
	_, checked, err := readProvenance(dir)
	if err == nil && checked == "" {
		err = errors.New("provenance.txt has no line \"checked DAY\": run `go run ./lists/cmd refresh --latest`")
	}
	return checked, err
}

func readProvenance(dir string) (sources []Source, checked string, err error) {
	err = eachLine(filepath.Join(dir, "sources", "provenance.txt"), func(line string) error {
		if day, found := strings.CutPrefix(line, "checked "); found {
			checked = day
			_, err := time.Parse(time.DateOnly, day)
			return err
		}
		f := strings.SplitN(line, " ", 7)
		if len(f) != 7 {
			return fmt.Errorf("want letter, package, licence, day, count, integrity and a remark, got %q", line)
		}
		registry, name, found := strings.Cut(f[1], ":")
		if !found {
			return fmt.Errorf("want registry:package@version, got %q", f[1])
		}
		sources = append(sources, Source{f[0], registry, name, f[2], f[3], f[4], f[5], f[6]})
		return nil
	})
	return sources, checked, err
}

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
