package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists/feed"
)

// release is one release while it is built.
type release struct {
	*tree
	version string
	out     string // the folder that the files go to
	key     string // file of the secret key that signs; "" for none
	log     io.Writer

	secret   *feed.SecretKey // nil without key
	programs []program       // made by binaries
	skipped  []string        // what was left out, and what to install for it
}

// steps make the files. A step may need those of the steps before it; SHA256SUMS
// must come after all files, and its signature last.
var steps = []struct {
	name string
	run  func(*release, context.Context) error
}{
	{"modules", (*release).modules},
	{"programs", (*release).binaries},
	{"licences", (*release).licences},
	{"archives", (*release).archives},
	{"packages", (*release).packages},
	{"container", (*release).container},
	{"SBOM", (*release).sbom},
	{"SHA256SUMS", (*release).sums},
	{"signature", (*release).sign},
}

func buildCommand(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	folder := flags.String("o", "", "output folder; dist/release if not given")
	key := flags.String("sign", "", "file of the minisign secret key that signs SHA256SUMS")
	dirty := flags.Bool("dirty", false, "build although the tree differs from the commit")
	if err := flags.Parse(args); err != nil {
		return usageError{err}
	}
	if flags.NArg() > 0 {
		return usageError{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
	}
	t, err := openTree(ctx)
	if err != nil {
		return err
	}
	if t.dirty && !*dirty {
		return errors.New("the tree differs from its commit, so nobody could build the same again: commit or remove the changes (git status), or pass --dirty for a trial")
	}
	r := &release{tree: t, version: core.Version, key: *key, log: out}
	return r.buildInto(ctx, t.outputFolder(*folder))
}

// outputFolder returns the absolute folder for the flag's value.
func (t *tree) outputFolder(flag string) string {
	if flag == "" {
		return t.path("dist/release")
	}
	if abs, err := filepath.Abs(flag); err == nil {
		return abs
	}
	return flag
}

// buildInto makes the release in a new folder beside the final one and renames it at
// the end, so that an interrupted build leaves no half release.
func (r *release) buildInto(ctx context.Context, final string) error {
	if err := r.refuseOtherFolder(final); err != nil {
		return err
	}
	if err := r.checkKey(); err != nil { // before the minutes of building
		return err
	}
	if err := os.MkdirAll(filepath.Dir(final), 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(final), ".release-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	r.out = temp
	if err := r.runSteps(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(final); err != nil {
		return err
	}
	if err := os.Rename(temp, final); err != nil {
		return err
	}
	r.report(final)
	return nil
}

// refuseOtherFolder returns an error if the folder has files but is no release, since
// building replaces it.
func (r *release) refuseOtherFolder(final string) error {
	entries, err := os.ReadDir(final)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(final, sumsFile)); err != nil {
		return fmt.Errorf("%s has files but no %s, so it is no release, which would be replaced: name another folder", final, sumsFile)
	}
	return nil
}

func (r *release) runSteps(ctx context.Context) error {
	fmt.Fprintf(r.log, "addrspec %s of commit %s, %s\n", r.version, r.label(), r.time.Format(time.RFC3339))
	for _, step := range steps {
		start := time.Now()
		if err := step.run(r, ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(r.log, "✓  %s (%.1fs)\n", step.name, time.Since(start).Seconds())
	}
	return nil
}

// report prints where the files are and what is missing.
func (r *release) report(final string) {
	for _, what := range r.skipped {
		fmt.Fprintln(r.log, "skipped:", what)
	}
	fmt.Fprintf(r.log, "the release is in %s; wasm/release/README.md describes its files\n", final)
}

// inOut returns the path of a file of the release.
func (r *release) inOut(name string) string { return filepath.Join(r.out, name) }

// skip notes that a part is left out.
func (r *release) skip(what string) { r.skipped = append(r.skipped, what) }
