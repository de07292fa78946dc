package feed

import (
	"strconv"
	"time"

	"github.com/addrspec/addrspec/lists"
)

// Summary describes a blob to people and monitors: lists.json of a feed, and
// what `addrspec lists show` prints.
type Summary struct {
	Version string         `json:"version"`
	Date    string         `json:"date"`              // when the sources were last read
	Signed  *time.Time     `json:"signed,omitempty"`  // nil without a signature
	Expires *time.Time     `json:"expires,omitempty"` // likewise
	Size    int            `json:"size"`              // bytes of the blob; 0 if built in
	Counts  map[string]int `json:"counts"`
	Sources []Source       `json:"sources"`
}

// Source is a list that the entries come from. A table of this project has
// nothing but a name and a number of domains.
type Source struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Licence string `json:"licence,omitempty"`
	Day     string `json:"day,omitempty"` // when this version was first fetched
	Domains int    `json:"domains"`
}

// counts has what is counted in lists, in the order in which people read it.
var counts = []struct {
	name  string
	count func(*lists.Lists) int
}{
	{"disposable", func(l *lists.Lists) int { return l.Count(lists.Disposable) }},
	{"public", func(l *lists.Lists) int { return l.Count(lists.Public) }},
	{"relay", func(l *lists.Lists) int { return l.Count(lists.Relay) }},
	{"known", func(l *lists.Lists) int { return l.Count(lists.Known) }},
	{"role_words", (*lists.Lists).RoleWords},
	{"typo_targets", func(l *lists.Lists) int { return lists.Lines(l.TypoTargets()) }},
	{"top_levels", func(l *lists.Lists) int { return lists.Lines(l.TopLevels()) }},
}

// CountNames returns the names of the counts, in the order in which people read
// them.
func CountNames() (names []string) {
	for _, c := range counts {
		names = append(names, c.name)
	}
	return names
}

// describe summarizes lists of size bytes.
func describe(l *lists.Lists, size int) Summary {
	s := Summary{Version: l.Version(), Size: size, Counts: map[string]int{}}
	if read, err := Day(l.Version()); err == nil {
		s.Date = read.Format(time.DateOnly)
	}
	for _, c := range counts {
		s.Counts[c.name] = c.count(l)
	}
	for _, source := range l.Sources() {
		domains, _ := strconv.Atoi(source.Domains)
		s.Sources = append(s.Sources, Source{source.Name, source.Version, source.Licence, source.Day, domains})
	}
	return s
}

// DescribeBlob opens a blob without a signature and summarizes it.
func DescribeBlob(blob []byte) (Summary, error) {
	if len(blob) > MaxBlob {
		return Summary{}, tooLarge()
	}
	opened, err := lists.Open(blob)
	if err != nil {
		return Summary{}, openError(err)
	}
	return describe(opened, len(blob)), nil
}

// DescribeBuiltIn summarizes the lists built into the program.
func DescribeBuiltIn() Summary { return describe(lists.Default(), 0) }

// With returns the summary with the times of a statement.
func (s Summary) With(st Statement) Summary {
	s.Signed, s.Expires = &st.Signed, &st.Expires
	return s
}

// Summary summarizes the release.
func (r *Release) Summary() Summary { return describe(r.Lists, len(r.Blob)).With(r.Statement) }
