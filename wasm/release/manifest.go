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
// as its only group. A manifest of somebody else, such as that of a test's project, does
// not match, because its package has another name.
var places = map[string]*regexp.Regexp{
	"version.go":        regexp.MustCompile(`(?m)^const Version = "([^"]*)"`),
	"pyproject.toml":    regexp.MustCompile(`(?m)^name = "addrspec"\nversion = "([^"]*)"`),
	"__init__.py":       regexp.MustCompile(`(?m)^__version__ = "([^"]*)"`),
	"Cargo.toml":        regexp.MustCompile(`(?m)^\[package\]\nname = "addrspec"\nversion = "([^"]*)"`),
	"Cargo.lock":        regexp.MustCompile(`(?m)^\[\[package\]\]\nname = "addrspec"\nversion = "([^"]*)"`),
	"package.json":      regexp.MustCompile(`^\{\s*"name": "addrspec",\s*"version": "([^"]*)"`),
	"package-lock.json": regexp.MustCompile(`(?m)^ *"name": "addrspec",\s*"version": "([^"]*)"`),
	"pom.xml":           regexp.MustCompile(`<groupId>io\.github\.addrspec</groupId>\s*<artifactId>addrspec(?:-spark|-flink)?</artifactId>\s*<version>([^<]*)</version>`),
	"addrspec.h":        regexp.MustCompile(`(?m)^#define ADDRSPEC_VERSION "([^"]*)"`),
	"CHANGELOG.md":      regexp.MustCompile(`\A# [^\n]*\n(?:[^#\n][^\n]*\n|\n)*## \[?v?(\d+\.\d+\.\d+)\b`),
	// The lines that install a package. A table of measurements says with which version
	// it was made, and must keep it.
	"README.md":  regexp.MustCompile(`(?:addrspec(?:-c)?-|addrspec:addrspec:|addrspec/(?:core|wasm/host)@v|tag .v|<artifactId>addrspec</artifactId>\s*<version>)(\d+\.\d+\.\d+)`),
	"engines.md": regexp.MustCompile(`addrspec-(?:spark|flink)[-:](\d+\.\d+\.\d+)`),
}

// manifestFolders are searched for manifests; all else in the tree belongs to tests.
var manifestFolders = []string{"wasm/bindings/", "wasm/release/", "edge/"}

// mayCarry reports whether the file of this name may carry the version.
func mayCarry(name string) bool {
	return name == sourceFile || name == "README.md" || slices.ContainsFunc(manifestFolders, func(folder string) bool {
		return strings.HasPrefix(name, folder)
	})
}

// findManifests returns the manifests among the files of a tree, and the source.
func findManifests(root string, names []string) (found []manifest, err error) {
	for _, name := range names {
		place := places[path.Base(name)]
		if place == nil || !mayCarry(name) {
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

// read returns the versions in a manifest, each once.
func (m manifest) read(root string) (versions []string, err error) {
	content, err := os.ReadFile(root + "/" + m.name)
	if err != nil {
		return nil, err
	}
	for _, match := range m.place.FindAllSubmatch(content, -1) {
		if version := string(match[1]); !slices.Contains(versions, version) {
			versions = append(versions, version)
		}
	}
	return versions, nil
}

// write replaces the version in a manifest, in every place.
func (m manifest) write(root, version string) error {
	file := root + "/" + m.name
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var changed []byte
	end := 0
	for _, at := range m.place.FindAllSubmatchIndex(content, -1) {
		changed = slices.Concat(changed, content[end:at[2]], []byte(version))
		end = at[3]
	}
	changed = append(changed, content[end:]...)
	if bytes.Equal(changed, content) {
		return nil
	}
	return os.WriteFile(file, changed, 0o644)
}

// isChangeLog reports whether a person must write an entry in place of a number.
func (m manifest) isChangeLog() bool { return path.Base(m.name) == "CHANGELOG.md" }

// differing returns a line for each manifest with another version.
func differing(root string, all []manifest, version string) (lines []string, err error) {
	for _, m := range all {
		got, err := m.read(root)
		if err != nil {
			return nil, err
		}
		if !slices.Equal(got, []string{version}) {
			lines = append(lines, fmt.Sprintf("%s has %s", m.name, strings.Join(got, " and ")))
		}
	}
	return lines, nil
}
