package main

import (
	"fmt"
	"io"
	"sort"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/source"
)

// report tells what a refresh changed: for each pair of classes how many
// names moved, and the names themselves where a person should look.
func report(w io.Writer, before, after source.Map) {
	moved := map[string][]string{}
	for name := range union(before, after) {
		was, is := before.Lookup(name), after.Lookup(name)
		if was != is {
			key := className(was) + " -> " + className(is)
			moved[key] = append(moved[key], name)
		}
	}
	for _, key := range sortedKeys(moved) {
		names := moved[key]
		sort.Strings(names)
		fmt.Fprintf(w, "%s: %d\n", key, len(names))
		for _, name := range names {
			fmt.Fprintf(w, "\t%s\n", name)
		}
	}
	fmt.Fprintf(w, "%d entries before, %d after\n", len(before), len(after))
}

func union(a, b source.Map) map[string]bool {
	all := map[string]bool{}
	for name := range a {
		all[name] = true
	}
	for name := range b {
		all[name] = true
	}
	return all
}

func sortedKeys(m map[string][]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
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
