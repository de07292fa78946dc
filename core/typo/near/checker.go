package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core/typo"
	"github.com/addrspec/addrspec/lists"
	"golang.org/x/net/publicsuffix"
)

// checker is the typo check without any list.
type checker struct {
	index   *typo.Index
	endings []string // of the typo targets: their domains without the first label
}

// openChecker reads the targets from lists.blob in dir. Unlike the lists
// embedded in the program, that blob has been packed from the tables in dir.
func openChecker(dir string) (checker, error) {
	blob, err := os.ReadFile(filepath.Join(dir, "lists.blob"))
	if err != nil {
		return checker{}, fmt.Errorf("%w; go run ./lists/pack writes it", err)
	}
	packed, err := lists.Open(blob)
	if err != nil {
		return checker{}, err
	}
	targets := packed.TypoTargets()
	return checker{typo.New(targets, packed.TopLevels()), endingsOf(targets)}, nil
}

// wouldCorrect reports whether the check corrects domain and near.txt should
// prevent that. It returns false for slips and for public suffixes, which never
// become entries.
func (c checker) wouldCorrect(domain string) bool {
	return c.index.Suggest([]byte(domain)) != nil && !isSlip(domain) && !isPublicSuffix(domain)
}

// endingsOf returns the distinct endings of the targets.
func endingsOf(targets []byte) (endings []string) {
	for line := range strings.Lines(string(targets)) {
		_, ending, _ := strings.Cut(strings.TrimSpace(line), ".")
		endings = append(endings, ending)
	}
	slices.Sort(endings)
	return slices.Compact(endings)
}

// slips are names in the sources that are misspellings nevertheless:
// dictionaries have plurals of everything.
var slips = []string{"yahoos.", "outlooks."}

func isSlip(domain string) bool {
	return slices.ContainsFunc(slips, func(slip string) bool { return strings.HasPrefix(domain, slip) })
}

// isPublicSuffix reports whether anybody can register names below name.
func isPublicSuffix(name string) bool {
	suffix, _ := publicsuffix.PublicSuffix(name)
	return suffix == name
}
