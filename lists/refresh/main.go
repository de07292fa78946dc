// Command refresh fetches the published domain lists from npm and PyPI, writes
// the domains that the merge rule can use to sources/, and prints the changes.
//
//	go run ./lists/refresh [-dir lists] [-latest] [-observed DIR|URL] [-all]
//
// Without -latest it fetches the versions that sources/provenance.txt pins and
// must change nothing. With -latest it fetches the newest versions and records
// the day. With -observed it adds the day's list of domains seen in abuse to
// sources/observed.txt; that list is on no registry, so it is read from a directory with
// the file of its repository, or from a URL. It needs npm, and python3 with pip. After reading the report, correct
// what is wrong in the hand-written tables and pack the blob with
// `go run ./lists/pack`.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/addrspec/addrspec/lists/internal/published"
	"github.com/addrspec/addrspec/lists/internal/tables"
)

func main() {
	dir := flag.String("dir", "lists", "directory of the tables")
	latest := flag.Bool("latest", false, "fetch the newest versions instead of the pinned ones")
	observed := flag.String("observed", "", "directory or URL with the list of domains seen in abuse")
	all := flag.Bool("all", false, "print every name that moved instead of the first 20 of each group")
	flag.Parse()
	if err := run(*dir, *latest, *observed, *all); err != nil {
		fmt.Fprintln(os.Stderr, "refresh:", err)
		os.Exit(1)
	}
}

// run rewrites the files in dir/sources and reports which domains that
// reclassifies. If latest is set, it fetches the newest versions; if observed is, it
// reads the list there. It writes only after everything else has succeeded.
func run(dir string, latest bool, observed string, all bool) error {
	before, err := tables.Merge(dir)
	if err != nil {
		return err
	}
	f, err := gather(published.Sources, dir, latest, observed)
	if err != nil {
		return err
	}
	votes, expired, err := f.observed.Vote(f.votes, f.checked)
	if err != nil {
		return err
	}
	after, err := tables.MergeVotes(dir, votes)
	if err != nil {
		return err
	}
	if err := f.write(dir); err != nil {
		return err
	}
	printNames(os.Stdout, "skipped, since they cannot be entries", f.skipped, all)
	printNames(os.Stdout, "expired, since no list has carried them for 18 months", expired, all)
	report(os.Stdout, before, after, votes, all)
	return nil
}

// fetched is the data that a refresh has fetched.
type fetched struct {
	votes   map[string]tables.Votes
	sources []tables.Source
	checked string // the day of the last refresh with -latest

	observed tables.Observed
	skipped  []string // of the list of observed domains
}

// gather fetches every source and reads the list of observed domains.
func gather(sources []published.Source, dir string, latest bool, observed string) (fetched, error) {
	f, err := collect(sources, dir, latest)
	if err == nil {
		err = f.observe(dir, observed)
	}
	if err != nil {
		return f, fmt.Errorf("%w\nnothing was written", err)
	}
	return f, nil
}

// collect fetches every source.
func collect(sources []published.Source, dir string, latest bool) (fetched, error) {
	f := fetched{votes: map[string]tables.Votes{}, checked: today()}
	if !latest {
		var err error
		if f.checked, err = tables.ReadChecked(dir); err != nil {
			return f, err
		}
	}
	pinned, err := tables.ReadProvenance(dir)
	if err != nil {
		return f, err
	}
	for _, s := range sources {
		row, err := fetch(s, pin(s.Registry.Name, s.Package, pinned), latest, f.votes)
		if err != nil {
			return f, fmt.Errorf("source %c: %w", s.Letter, err)
		}
		f.sources = append(f.sources, row)
	}
	return f, nil
}

// observe adds the list of observed domains at from, unless that is empty, and its row.
func (f *fetched) observe(dir, from string) (err error) {
	if f.observed, err = tables.ReadObserved(dir); err != nil {
		return err
	}
	pinned, err := tables.ReadProvenance(dir)
	if err != nil {
		return err
	}
	row := pin(published.ObservedRegistry, published.ObservedPackage, pinned)
	if from != "" {
		if row, err = f.addObserved(from); err != nil {
			return fmt.Errorf("source %c: %w", tables.ObservedLetter, err)
		}
	}
	if row.Letter != "" {
		f.sources = append(f.sources, row)
	}
	return nil
}

func (f *fetched) addObserved(from string) (tables.Source, error) {
	_, before := f.observed.Newest()
	snapshot, err := published.ReadObserved(from, today(), before)
	if err != nil {
		return tables.Source{}, err
	}
	for name, day := range snapshot.Days {
		f.observed.Add(name, day)
	}
	f.skipped = snapshot.Skipped
	day, _ := f.observed.Newest()
	return tables.Source{Letter: string(tables.ObservedLetter), Registry: published.ObservedRegistry,
		Package: published.ObservedPackage + "@" + day, Licence: published.ObservedLicence, Fetched: today(),
		Count: fmt.Sprint(len(f.observed)), Integrity: snapshot.Integrity, Remark: published.ObservedRemark}, nil
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

// pin returns the row of provenance.txt for a package, or an empty one.
func pin(registry, pkg string, pinned []tables.Source) tables.Source {
	for _, p := range pinned {
		if name, _, _ := strings.Cut(p.Package, "@"); name == pkg && p.Registry == registry {
			return p
		}
	}
	return tables.Source{}
}

// fetch fetches one source, adds its votes and returns its row. If it is not
// pinned or latest is set, it fetches the newest version.
func fetch(s published.Source, pinned tables.Source, latest bool, votes map[string]tables.Votes) (tables.Source, error) {
	spec := pinned.Package
	if spec == "" || latest {
		spec = s.Package
	}
	got, err := s.Registry.Fetch(spec)
	if err != nil {
		return pinned, err
	}
	row := tables.Source{Letter: string(s.Letter), Registry: s.Registry.Name, Package: got.Name + "@" + got.Version,
		Licence: s.Licence, Fetched: today(), Integrity: got.Integrity, Remark: s.Remark}
	if row.Package == pinned.Package {
		if row.Fetched = pinned.Fetched; row.Integrity != pinned.Integrity {
			return row, fmt.Errorf("%s: integrity is %s, provenance.txt has %s", spec, row.Integrity, pinned.Integrity)
		}
	}
	names, err := s.Read(got)
	row.Count = fmt.Sprint(len(names))
	s.Vote(votes, names)
	return row, err
}
