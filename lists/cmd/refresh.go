package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/tables"
)

// refresher fetches the published lists from npm and PyPI. It needs npm, and python3 with
// pip. Without --latest it must change nothing. After reading the report, correct what is
// wrong in the hand-written tables and pack the blob.
type refresher struct {
	Dir      string `default:"lists" help:"Directory of the tables."`
	Latest   bool   `help:"Fetch the newest versions, not those that sources/provenance.txt pins."`
	Observed string `placeholder:"DIR|URL" help:"Add the day's list of domains seen in abuse, which is on no registry."`
	All      bool   `help:"Print every name that moved instead of the first 20 of each group."`
}

// Run rewrites the files in sources/ and reports which domains that reclassifies. It
// writes only after everything else has succeeded.
func (r refresher) Run() error {
	before, err := tables.Merge(r.Dir)
	if err != nil {
		return err
	}
	f, err := r.gather(published)
	if err != nil {
		return fmt.Errorf("%w\nnothing was written", err)
	}
	votes, expired, err := f.observed.Vote(f.votes, f.checked)
	if err != nil {
		return err
	}
	after, err := tables.MergeVotes(r.Dir, votes)
	if err != nil {
		return err
	}
	if err := f.write(r.Dir); err != nil {
		return err
	}
	printNames(os.Stdout, "skipped, since they cannot be entries", f.skipped, r.All)
	printNames(os.Stdout, "expired, since no list has carried them for 18 months", expired, r.All)
	report(os.Stdout, before, after, votes, r.All)
	return nil
}

// fetched is the data that a refresh has fetched.
type fetched struct {
	votes   map[string]tables.Votes
	sources []tables.Source
	checked string // the day of the last refresh with --latest

	observed tables.Observed
	skipped  []string // of the list of observed domains
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

func (r refresher) gather(sources []source) (f fetched, err error) {
	f = fetched{votes: map[string]tables.Votes{}, checked: today()}
	if !r.Latest {
		f.checked, err = tables.ReadChecked(r.Dir)
		if err != nil {
			return f, err
		}
	}
	rows, err := tables.ReadProvenance(r.Dir)
	if err != nil {
		return f, err
	}
	pin := func(registry, pkg string) tables.Source {
		for _, row := range rows {
			if name, _, _ := strings.Cut(row.Package, "@"); name == pkg && row.Registry == registry {
				return row
			}
		}
		return tables.Source{}
	}
	for _, s := range sources {
		row, err := s.fetch(pin(s.registry.Name, s.pkg), r.Latest, f.votes)
		if err != nil {
			return f, fmt.Errorf("source %c: %w", s.letter, err)
		}
		f.sources = append(f.sources, row)
	}
	f.observed, err = tables.ReadObserved(r.Dir)
	if err != nil {
		return f, err
	}
	row := pin(observedRegistry, observedPackage)
	if r.Observed != "" {
		_, before := f.observed.Newest()
		list, err := readSnapshot(r.Observed, before)
		if err != nil {
			return f, fmt.Errorf("source %c: %w", tables.ObservedLetter, err)
		}
		for _, name := range list.names {
			f.observed.Add(name, today())
		}
		f.skipped = list.skipped
		day, _ := f.observed.Newest()
		row = tables.Source{Letter: string(tables.ObservedLetter), Registry: observedRegistry,
			Package: observedPackage + "@" + day, Licence: "MIT", Fetched: today(),
			Count: fmt.Sprint(len(f.observed)), Integrity: list.integrity, Remark: observedRemark}
	}
	if row.Letter != "" {
		f.sources = append(f.sources, row)
	}
	return f, nil
}

const provenanceHeader = `# The published lists behind domains.txt and observed.txt, written by "go run ./lists/cmd refresh". A line has
# letter, registry:package@version, licence, day this version was first fetched, number of
# domains, integrity of its archive, remark. "checked" is the day on which the registries
# were last asked for newer versions.
`

const domainsHeader = `# Domains on the published lists that the merge rule can use, each with the letters of its
# lists (provenance.txt). Written by "go run ./lists/cmd refresh"; not edited by hand.
`

// write replaces the files in sources/. All new files are complete before the first
// replaces an old one. domains.txt omits the domains that the merge rule cannot use: three
// quarters of 160,000.
func (f fetched) write(dir string) error {
	provenance := provenanceHeader + "checked " + f.checked + "\n"
	for _, s := range f.sources {
		provenance += fmt.Sprintf("%s %s:%s %s %s %s %s %s\n",
			s.Letter, s.Registry, s.Package, s.Licence, s.Fetched, s.Count, s.Integrity, s.Remark)
	}
	var domains []string
	for name, v := range f.votes {
		if v.Useful(name) {
			domains = append(domains, name+" "+string(v)+"\n")
		}
	}
	slices.Sort(domains)
	texts := map[string]string{"domains.txt": domainsHeader + strings.Join(domains, ""), "provenance.txt": provenance}
	if len(f.observed) > 0 {
		texts["observed.txt"] = f.observed.Text()
	}
	for file, text := range texts {
		path := filepath.Join(dir, "sources", file+".new")
		defer os.Remove(path)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for file := range texts {
		path := filepath.Join(dir, "sources", file)
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
	}
	return nil
}

// report prints the changes of a refresh: how many names moved from each class to
// another, with examples, and which of them a person should check before the
// tables are committed.
func report(w io.Writer, before, after tables.Map, votes map[string]tables.Votes, all bool) {
	names := maps.Clone(before)
	maps.Copy(names, after)
	moved := map[string][]string{}
	var suspicious []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, is := before.Lookup(name), after.Lookup(name)
		if was == is {
			continue
		}
		group := was.String() + " -> " + is.String()
		moved[group] = append(moved[group], name)
		// It may be a real domain if it had another class, a list of public providers contains
		// it, or it is short below an old top-level domain, hence valuable.
		label, ending, _ := strings.Cut(name, ".")
		old := len(ending) == 2 || ending == "com" || ending == "net" || ending == "org"
		if is == lists.Disposable && (was != 0 || votes[name].Any("E") || len(label) <= 4 && old) {
			suspicious = append(suspicious, name)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(moved)) {
		printNames(w, group, moved[group], all)
	}
	printNames(w, "newly disposable, check each (add those that are wrong to allow.txt)", suspicious, true)
	fmt.Fprintf(w, "%d entries before, %d after\n", len(before), len(after))
}

func printNames(w io.Writer, title string, names []string, all bool) {
	const shown = 20
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(w, "%s: %d\n", title, len(names))
	for i, name := range names {
		if i == shown && !all {
			fmt.Fprintf(w, "\t... and %d more (--all shows them)\n", len(names)-shown)
			return
		}
		fmt.Fprintf(w, "\t%s\n", name)
	}
}
