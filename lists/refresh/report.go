package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/tables"
)

const shown = 20 // names of a group, unless all is set

// report prints the changes of a refresh: how many names moved from each class to
// another, with examples, and which of them a person should check before the
// tables are committed.
func report(w io.Writer, before, after tables.Map, votes map[string]tables.Votes, all bool) {
	moved := map[string][]string{}
	var suspicious []string
	for _, name := range slices.Sorted(maps.Keys(union(before, after))) {
		was, is := before.Lookup(name), after.Lookup(name)
		if was == is {
			continue
		}
		group := was.String() + " -> " + is.String()
		moved[group] = append(moved[group], name)
		if is == lists.Disposable && isSuspicious(name, was, votes[name]) {
			suspicious = append(suspicious, name)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(moved)) {
		printNames(w, group, moved[group], all)
	}
	printNames(w, "newly disposable, check each (add those that are wrong to allow.txt)", suspicious, true)
	fmt.Fprintf(w, "%d entries before, %d after\n", len(before), len(after))
}

// union returns the entries of a and b.
func union(a, b tables.Map) tables.Map {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// isSuspicious reports whether a name that has become disposable may be a real
// domain: it had another class, a list of public providers (E) contains it, or
// it is a short name below an old top-level domain, hence valuable.
func isSuspicious(name string, was lists.Class, votes tables.Votes) bool {
	label, ending, _ := strings.Cut(name, ".")
	old := len(ending) == 2 || ending == "com" || ending == "net" || ending == "org"
	return was != 0 || votes.Any("E") || len(label) <= 4 && old
}

// printNames prints a group of names: its title, their number, and the first
// of them or all.
func printNames(w io.Writer, title string, names []string, all bool) {
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(w, "%s: %d\n", title, len(names))
	for i, name := range names {
		if i == shown && !all {
			fmt.Fprintf(w, "\t... and %d more (-all shows them)\n", len(names)-shown)
			return
		}
		fmt.Fprintf(w, "\t%s\n", name)
	}
}

const provenanceHeader = `# The published lists behind domains.txt and observed.txt, written by "go run ./lists/refresh". A line has
# letter, registry:package@version, licence, day this version was first fetched, number of
# domains, integrity of its archive, remark. "checked" is the day on which the registries
# were last asked for newer versions.
`

const domainsHeader = `# Domains on the published lists that the merge rule can use, each with the letters of its
# lists (provenance.txt). Written by "go run ./lists/refresh"; not edited by hand.
`

// provenance returns the text of provenance.txt.
func (f fetched) provenance() string {
	text := provenanceHeader + "checked " + f.checked + "\n"
	for _, s := range f.sources {
		text += fmt.Sprintf("%s %s:%s %s %s %s %s %s\n",
			s.Letter, s.Registry, s.Package, s.Licence, s.Fetched, s.Count, s.Integrity, s.Remark)
	}
	return text
}

// domains returns the text of domains.txt. It omits the domains that the merge
// rule cannot use: three quarters of 160,000.
func (f fetched) domains() string {
	var lines []string
	for name, v := range f.votes {
		if v.Useful(name) {
			lines = append(lines, name+" "+string(v)+"\n")
		}
	}
	sort.Strings(lines)
	return domainsHeader + strings.Join(lines, "")
}

// write replaces the files in sources/. All new files are complete before the first
// replaces an old one.
func (f fetched) write(dir string) error {
	texts := map[string]string{"domains.txt": f.domains(), "provenance.txt": f.provenance()}
	if len(f.observed) > 0 {
		texts["observed.txt"] = f.observed.Text()
	}
	for file, text := range texts {
		path := filepath.Join(dir, "sources", file)
		defer os.Remove(path + ".new")
		if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
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
