package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core"
)

// versionForm is a version of semver.org without the parts that not every registry
// accepts in the same spelling: PyPI has another one for pre-releases (PEP 440).
var versionForm = regexp.MustCompile(`^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})$`)

func versionCommand(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("version", flag.ContinueOnError)
	check := flags.Bool("check", false, "fail unless all manifests have the version of "+sourceFile)
	if err := flags.Parse(args); err != nil {
		return usageError{err}
	}
	t, err := openTree(ctx)
	if err != nil {
		return err
	}
	names, err := t.files(ctx)
	if err != nil {
		return err
	}
	all, err := findManifests(t.root, names)
	if err != nil {
		return err
	}
	switch {
	case flags.NArg() == 2 && flags.Arg(0) == "set" && !*check:
		return setVersion(t.root, all, flags.Arg(1), out)
	case flags.NArg() > 0:
		return usageError{fmt.Errorf("version takes nothing, -check, or set VERSION")}
	case *check:
		return checkVersion(t.root, all, core.Version)
	}
	fmt.Fprintln(out, core.Version)
	for _, m := range all {
		versions, err := m.read(t.root)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %-10s %s\n", strings.Join(versions, ", "), m.name)
	}
	return nil
}

// checkVersion returns an error that lists the manifests with another version.
func checkVersion(root string, all []manifest, version string) error {
	var lines []string
	for _, m := range all {
		got, err := m.read(root)
		if err != nil {
			return err
		}
		if !slices.Equal(got, []string{version}) {
			lines = append(lines, fmt.Sprintf("  %s has %s\n", m.name, strings.Join(got, " and ")))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("%s has %s, but\n%srun: go -C wasm/release run . version set %s",
		sourceFile, version, strings.Join(lines, ""), version)
}

// setVersion writes a version to every manifest but the change logs, which it lists.
func setVersion(root string, all []manifest, version string, out io.Writer) error {
	if !versionForm.MatchString(version) {
		return usageError{fmt.Errorf("%q is not a version such as 0.4.0", version)}
	}
	if len(all) == 0 {
		return errors.New("no manifest was found")
	}
	for _, m := range all {
		if path.Base(m.name) == "CHANGELOG.md" { // a person must write an entry in place of a number
			fmt.Fprintf(out, "  write an entry: %s\n", m.name)
			continue
		}
		if err := m.write(root, version); err != nil {
			return err
		}
		fmt.Fprintf(out, "  %s\n", m.name)
	}
	fmt.Fprintln(out, "The module has the version, so build it again: ./build.sh")
	return nil
}

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
	"version.rb":        regexp.MustCompile(`(?m)^ *VERSION = "([^"]*)"`),
	"composer.json":     regexp.MustCompile(`(?m)^ *"name": "addrspec/addrspec",\n.*\n *"version": "([^"]*)"`),
	"pom.xml":           regexp.MustCompile(`<groupId>io\.github\.addrspec</groupId>\s*<artifactId>addrspec(?:-spark|-flink)?</artifactId>\s*<version>([^<]*)</version>`),
	"addrspec.h":        regexp.MustCompile(`(?m)^#define ADDRSPEC_VERSION "([^"]*)"`),
	"CHANGELOG.md":      regexp.MustCompile(`\A# [^\n]*\n(?:[^#\n][^\n]*\n|\n)*## \[?v?(\d+\.\d+\.\d+)\b`),
	// The lines that install a package. A table of measurements says with which version
	// it was made, and must keep it.
	"README.md":  regexp.MustCompile(`(?:addrspec(?:-c|-php|-postgresql|-sqlite)?[-_]|/addrspec:|addrspec:addrspec:|addrspec/(?:core|wasm/host)@v|tag .v|<artifactId>addrspec</artifactId>\s*<version>)(\d+\.\d+\.\d+)`),
	"engines.md": regexp.MustCompile(`addrspec-(?:spark|flink)[-:](\d+\.\d+\.\d+)`),
}

// manifestDirectories are searched for manifests; all else in the tree belongs to tests.
var manifestDirectories = []string{"wasm/bindings/", "wasm/release/", "edge/"}

// findManifests returns the manifests among the files of a tree, and the source.
func findManifests(root string, names []string) (found []manifest, err error) {
	for _, name := range names {
		place := places[path.Base(name)]
		ours := name == sourceFile || name == "README.md" ||
			slices.ContainsFunc(manifestDirectories, func(directory string) bool { return strings.HasPrefix(name, directory) })
		if place == nil || !ours {
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
	return os.WriteFile(file, append(changed, content[end:]...), 0o644)
}
