package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// manifest is a file that carries the version.
type manifest struct {
	name  string // in the tree
	place *regexp.Regexp
}

// sourceFile is where the version comes from.
const sourceFile = "core/version.go"

// places are the kinds of manifests, by their file name. Each pattern has the version
// as its only group, and matches once. A manifest of somebody else, such as that of a
// test's project, does not match, because its package has another name.
var places = map[string]*regexp.Regexp{
	"version.go":        regexp.MustCompile(`(?m)^const Version = "([^"]*)"`),
	"pyproject.toml":    regexp.MustCompile(`(?m)^name = "addrspec"\nversion = "([^"]*)"`),
	"Cargo.toml":        regexp.MustCompile(`(?m)^\[package\]\nname = "addrspec"\nversion = "([^"]*)"`),
	"Cargo.lock":        regexp.MustCompile(`(?m)^\[\[package\]\]\nname = "addrspec"\nversion = "([^"]*)"`),
	"package.json":      regexp.MustCompile(`^\{\s*"name": "addrspec",\s*"version": "([^"]*)"`),
	"package-lock.json": regexp.MustCompile(`"": \{\s*"name": "addrspec",\s*"version": "([^"]*)"`),
	"pom.xml":           regexp.MustCompile(`(?m)^  <groupId>[^<]*addrspec[^<]*</groupId>\s*<artifactId>addrspec(?:-spark|-flink)?</artifactId>\s*<version>([^<]*)</version>`),
	"addrspec.h":        regexp.MustCompile(`(?m)^#define ADDRSPEC_VERSION "([^"]*)"`),
	"CHANGELOG.md":      regexp.MustCompile(`\A# [^\n]*\n(?:[^#\n][^\n]*\n|\n)*## \[?v?([0-9][0-9.]*)\b`),
}

// manifestFolders are searched for manifests; all else in the tree belongs to tests.
var manifestFolders = []string{"wasm/bindings/", "wasm/release/", "edge/"}

// findManifests returns the manifests among the files of a tree, and the source.
func findManifests(root string, names []string) (found []manifest, err error) {
	for _, name := range names {
		place := places[path.Base(name)]
		if place == nil || name != sourceFile && !slices.ContainsFunc(manifestFolders, func(folder string) bool { return strings.HasPrefix(name, folder) }) {
			continue
		}
		content, err := os.ReadFile(root + "/" + name)
		if err != nil {
			return nil, err
		}
		if place.Match(content) {
			found = append(found, manifest{name, place})
		}
	}
	return found, nil
}

// read returns the version in a manifest.
func (m manifest) read(root string) (string, error) {
	content, err := os.ReadFile(root + "/" + m.name)
	if err != nil {
		return "", err
	}
	return string(m.place.FindSubmatch(content)[1]), nil
}

// write replaces the version in a manifest. The first entry of a change log is text that
// a person writes, so it is only reported.
func (m manifest) write(root, version string) error {
	file := root + "/" + m.name
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	at := m.place.FindSubmatchIndex(content)
	changed := slices.Concat(content[:at[2]], []byte(version), content[at[3]:])
	if bytes.Equal(changed, content) {
		return nil
	}
	return os.WriteFile(file, changed, 0o644)
}

// isChangeLog reports whether a person must write an entry.
func (m manifest) isChangeLog() bool { return path.Base(m.name) == "CHANGELOG.md" }

// differing returns a line for each manifest with another version.
func differing(root string, all []manifest, version string) (lines []string, err error) {
	for _, m := range all {
		got, err := m.read(root)
		if err != nil {
			return nil, err
		}
		if got != version {
			lines = append(lines, fmt.Sprintf("%s has %s", m.name, got))
		}
	}
	return lines, nil
}
