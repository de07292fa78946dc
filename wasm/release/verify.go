package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// verifyCommand builds the commit of HEAD again, in a clone in another folder and with
// an empty cache of compiled code, and compares the result with the release that is
// there, file by file. With -warm it uses the user's cache, which takes a part of the time
// but does not show whether the compiler itself gives the same bytes again.
func verifyCommand(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("verify", flag.ContinueOnError)
	folder := flags.String("o", "", "folder of the release; dist/release if not given")
	warm := flags.Bool("warm", false, "use the cache of compiled code")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return usageError{errors.Join(err, errors.New("verify takes only -o FOLDER and -warm"))}
	}
	t, err := openTree(ctx)
	if err != nil {
		return err
	}
	if t.dirty {
		return errors.New("the tree differs from its commit, which is what would be built: commit or remove the changes (git status)")
	}
	first := t.outputFolder(*folder)
	if err := checkSums(first); err != nil {
		return err
	}
	second, clean, err := t.buildAgain(ctx, *warm, out)
	defer clean()
	if err != nil {
		return err
	}
	return compare(first, second, out)
}

// checkSums returns an error unless SHA256SUMS has every file as it is.
func checkSums(dir string) error {
	want, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if err != nil {
		return fmt.Errorf("%w: build the release first", err)
	}
	got, err := digests(dir)
	if err != nil {
		return err
	}
	if different := differences(parseSums(want), parseSums(got)); len(different) > 0 {
		return fmt.Errorf("files of %s are not those of its %s: %s", dir, sumsFile, strings.Join(different, ", "))
	}
	return nil
}

// buildAgain clones the commit into a new folder and builds the release there. The
// function that it returns removes the folder.
func (t *tree) buildAgain(ctx context.Context, warm bool, out io.Writer) (dir string, clean func(), err error) {
	temp, err := os.MkdirTemp("", "addrspec-verify-*")
	if err != nil {
		return "", func() {}, err
	}
	clean = func() { os.RemoveAll(temp) }
	clone := filepath.Join(temp, "a folder with another name", "clone")
	if _, err := git(ctx, t.root, "clone", "--quiet", "--no-checkout", t.root, clone); err != nil {
		return "", clean, err
	}
	if _, err := git(ctx, clone, "checkout", "--quiet", "--detach", t.commit); err != nil {
		return "", clean, err
	}
	fmt.Fprintf(out, "building %s again in %s\n", t.label(), clone)
	cmd := exec.CommandContext(ctx, "./build.sh", "release")
	cmd.Dir, cmd.Stdout = clone, out
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if !warm {
		cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(temp, "cache"))
	}
	if err := cmd.Run(); err != nil {
		return "", clean, fmt.Errorf("the second build: %w\n%s", err, &stderr)
	}
	return filepath.Join(clone, "dist/release"), clean, nil
}

// compare returns an error that names the files in which two releases differ. The
// signature is not compared, since the second build has no key; the sums that it signs
// are.
func compare(first, second string, out io.Writer) error {
	a, err := os.ReadFile(filepath.Join(first, sumsFile))
	if err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(second, sumsFile))
	if err != nil {
		return err
	}
	sums := parseSums(a)
	if different := differences(sums, parseSums(b)); len(different) > 0 {
		return fmt.Errorf("two builds of the same commit differ in: %s", strings.Join(different, ", "))
	}
	fmt.Fprintf(out, "the same bytes in both folders: %d files\n", len(sums))
	return nil
}

// parseSums returns the digest of each file of a SHA256SUMS.
func parseSums(text []byte) map[string]string {
	sums := map[string]string{}
	for line := range strings.Lines(string(text)) {
		digest, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		sums[name] = digest
	}
	return sums
}

// differences returns the names with different digests, or in one map only.
func differences(a, b map[string]string) (names []string) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	return names
}
