package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

const registriesHeader = `# The endings of two labels under which registries take names, such as co.jp, with a first
# label of up to three letters and the top-level domain of a typo target with such an
# ending; in byte order. A domain under one of them is no misspelling of one under another.
# Written by "./build.sh lists" from the Public Suffix List in golang.org/x/net (its ICANN
# section, facts only); not edited by hand.
`

// registryLabelMax bounds the first label of an ending. Longer ones are too far
// from those of the targets to be taken for their misspelling.
const registryLabelMax = 3

// writeRegistries writes second-levels.txt for the endings of the targets.
func writeRegistries(dir string, endings []string) error {
	var rows []string
	for _, top := range registryTops(endings) {
		for _, label := range shortLabels("", nil) {
			if name := label + "." + top; isRegistryEnding(name) {
				rows = append(rows, name)
			}
		}
	}
	slices.Sort(rows)
	path := filepath.Join(dir, "second-levels.txt")
	text := []byte(registriesHeader + strings.Join(rows, "\n") + "\n")
	if before, err := os.ReadFile(path); err != nil || !bytes.Equal(before, text) {
		fmt.Printf("%s: %d endings\n", path, len(rows))
	}
	return os.WriteFile(path, text, 0o644)
}

// registryTops returns the top-level domains of those endings that have two
// labels.
func registryTops(endings []string) (tops []string) {
	for _, ending := range endings {
		if _, top, found := strings.Cut(ending, "."); found {
			tops = append(tops, top)
		}
	}
	slices.Sort(tops)
	return slices.Compact(tops)
}

// isRegistryEnding reports whether a registry, not a company, takes names under
// name.
func isRegistryEnding(name string) bool {
	suffix, byRegistry := publicsuffix.PublicSuffix("x." + name)
	return byRegistry && suffix == name
}

// shortLabels appends every label of letters that begins with prefix.
func shortLabels(prefix string, labels []string) []string {
	for letter := 'a'; letter <= 'z' && len(prefix) < registryLabelMax; letter++ {
		label := prefix + string(letter)
		labels = shortLabels(label, append(labels, label))
	}
	return labels
}
