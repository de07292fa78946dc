package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
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
		return checkVersion(t.root, all)
	}
	return printVersion(t.root, all, out)
}

// printVersion prints the version and what every manifest has.
func printVersion(root string, all []manifest, out io.Writer) error {
	fmt.Fprintln(out, core.Version)
	for _, m := range all {
		versions, err := m.read(root)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %-10s %s\n", strings.Join(versions, ", "), m.name)
	}
	return nil
}

// checkVersion returns an error that lists the manifests with another version.
func checkVersion(root string, all []manifest) error {
	lines, err := differing(root, all, core.Version)
	if err != nil || len(lines) == 0 {
		return err
	}
	return fmt.Errorf("%s has %s, but\n  %s\nrun: go run ./wasm/release version set %s", sourceFile, core.Version, strings.Join(lines, "\n  "), core.Version)
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
		if m.isChangeLog() {
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
