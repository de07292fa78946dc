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

const shown = 20 // names of a group, unless all are asked for

// report tells what a refresh changed: how many names moved from class to
// class, with examples, and which of them a person should look at before the
// tables are committed.
func report(w io.Writer, before, after tables.Map, listed map[string]tables.Votes, all bool) {
	moved := map[string][]string{}
	var doubtful []string
	for _, name := range slices.Sorted(maps.Keys(union(before, after))) {
		was, is := before.Lookup(name), after.Lookup(name)
		if was == is {
			continue
		}
		group := className(was) + " -> " + className(is)
		moved[group] = append(moved[group], name)
		if is == lists.Disposable && doubt(name, was, listed[name]) {
			doubtful = append(doubtful, name)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(moved)) {
		printNames(w, group, moved[group], all)
	}
	printNames(w, "newly disposable, look at each (one that is wrong goes to allow.txt)", doubtful, true)
	fmt.Fprintf(w, "%d entries before, %d after\n", len(before), len(after))
}

func union(a, b tables.Map) tables.Map {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// doubt reports whether a name that has become disposable may be somebody's
// real domain: it had another class, a list of public providers holds it, or
// it is short and so dear.
func doubt(name string, was lists.Class, votes tables.Votes) bool {
	label, _, _ := strings.Cut(name, ".")
	return was != 0 || strings.Contains(string(votes), "E") || len(label) <= 4 && strings.Count(name, ".") == 1
}

func printNames(w io.Writer, group string, names []string, all bool) {
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(w, "%s: %d\n", group, len(names))
	for i, name := range names {
		if i == shown && !all {
			fmt.Fprintf(w, "\t... and %d more (-all shows them)\n", len(names)-shown)
			return
		}
		fmt.Fprintf(w, "\t%s\n", name)
	}
}

func className(c lists.Class) string {
	switch c {
	case lists.Disposable:
		return "disposable"
	case lists.Public:
		return "public"
	case lists.Relay:
		return "relay"
	case lists.Known:
		return "known"
	}
	return "unlisted"
}
