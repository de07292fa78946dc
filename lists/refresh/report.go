package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/tables"
)

const shown = 20 // names of a group, unless all is set

// report prints what a refresh changed: how many names moved from each class to
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
