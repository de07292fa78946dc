package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

const tableHeader = `# Real domains and words that the typo check would correct without this table.
# Written by "./build.sh lists"; not edited by hand. From npm, fetched 2026-11-20:
`

// rewrite writes near.txt and prints what that changes.
func rewrite(path, header string, found map[string]bool) error {
	before, err := readNames(path)
	if err != nil {
		return err
	}
	printChange(path, before, found)
	return os.WriteFile(path, []byte(header+rows(found)), 0o644)
}

// rows returns one line per name, sorted.
func rows(found map[string]bool) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(found)) {
		text.WriteString(name + "\n")
	}
	return text.String()
}

// readNames returns the names in near.txt, none if there is no such file.
func readNames(path string) (map[string]bool, error) {
	table, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	names := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		if !strings.HasPrefix(line, "#") {
			names[strings.TrimSpace(line)] = true
		}
	}
	return names, nil
}

// printChange prints how many names there are, and those added and removed.
func printChange(path string, before, after map[string]bool) {
	added, removed := missing(after, before), missing(before, after)
	fmt.Printf("%s: %d names, %d added, %d removed\n", path, len(after), len(added), len(removed))
	for _, name := range added {
		fmt.Printf("\tadded %s\n", name)
	}
	for _, name := range removed {
		fmt.Printf("\tremoved %s\n", name)
	}
}

// missing returns the names in all that are not in some, sorted.
func missing(all, some map[string]bool) (names []string) {
	for name := range all {
		if !some[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
