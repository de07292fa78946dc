// Command release builds everything that a release consists of. It is a Go module of its
// own: run it by go -C wasm/release run .
//
//	release build [-o dist/release] [-sign SECRETKEYFILE] [-dirty]
//	release goproxy DIRECTORY   the Go module alone, as a file tree for GOPROXY
//	release tag                 make the tag that Go's module proxy reads
//	release version             print the version and the manifests that carry it
//	release version -check      fail unless all manifests carry it
//	release version set 0.4.0   write another one everywhere
//
// ./build.sh release builds the module first and then runs the first of these.
// README.md beside this file describes the files and how to publish them.
//
// Start reading at steps, which are in the order in which they run.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists/feed"
)

// commands are the sub-commands. Each gets the arguments after its name.
var commands = map[string]func(ctx context.Context, args []string, out io.Writer) error{
	"build":   buildCommand,
	"goproxy": goproxyCommand,
	"tag":     tagCommand,
	"version": versionCommand,
}

// usageError is an error of the command line.
type usageError struct{ error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "release:", err)
	if errors.As(err, new(usageError)) {
		os.Exit(2)
	}
	os.Exit(1)
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 || commands[args[0]] == nil {
		return usageError{errors.New("name a command: build, goproxy, tag or version")}
	}
	return commands[args[0]](ctx, args[1:], out)
}

// release is one release while it is built.
type release struct {
	*tree
	version string
	out     string // the directory that the files go to
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
	{"deb and rpm", (*release).system},
	{"images", (*release).images},
	{"SBOM", (*release).sbom},
	{"SHA256SUMS", (*release).sums},
	{"signature", (*release).sign},
}

func buildCommand(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	directory := flags.String("o", "", "output directory; dist/release if not given")
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
	final := t.path("dist/release")
	if *directory != "" {
		final, err = filepath.Abs(*directory)
		if err != nil {
			return err
		}
	}
	r := &release{tree: t, version: core.Version, key: *key, log: out}
	return r.buildInto(ctx, final)
}

// buildInto makes the release in a new directory beside the final one and renames it at
// the end, so that an interrupted build leaves no half release. It replaces a release,
// and no other directory with files.
func (r *release) buildInto(ctx context.Context, final string) error {
	entries, err := os.ReadDir(final)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(entries) > 0 && !exists(filepath.Join(final, sumsFile)) {
		return fmt.Errorf("%s has files but no %s, so it is no release, which would be replaced: name another directory",
			final, sumsFile)
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
	fmt.Fprintf(r.log, "addrspec %s of commit %s, %s\n", r.version, r.label(), r.time.Format(time.RFC3339))
	for _, step := range steps {
		start := time.Now()
		if err := step.run(r, ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(r.log, "✓  %s (%.1fs)\n", step.name, time.Since(start).Seconds())
	}
	if err := os.RemoveAll(final); err != nil {
		return err
	}
	if err := os.Rename(temp, final); err != nil {
		return err
	}
	for _, what := range r.skipped {
		fmt.Fprintln(r.log, "skipped:", what)
	}
	fmt.Fprintf(r.log, "the release is in %s; wasm/release/README.md describes its files\n", final)
	return nil
}

// inOut returns the path of a file of the release.
func (r *release) inOut(name string) string { return filepath.Join(r.out, name) }

// skip notes that a part is left out.
func (r *release) skip(what string) { r.skipped = append(r.skipped, what) }

// commitLen is how much of the commit's hash a version shows. The length that git
// chooses depends on the clone.
const commitLen = 12

// tree is a checkout of the repository.
type tree struct {
	root   string // absolute
	commit string // full hash of HEAD
	time   time.Time
	dirty  bool // something differs from the commit
}

// openTree returns the checkout that contains the working directory.
func openTree(ctx context.Context) (*tree, error) {
	root, err := git(ctx, "", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("a release needs a git checkout: %w", err)
	}
	return openTreeIn(ctx, strings.TrimSuffix(root, "\n"))
}

// openTreeIn returns the checkout whose topmost directory is root.
func openTreeIn(ctx context.Context, root string) (*tree, error) {
	head, err := git(ctx, root, "show", "--no-patch", "--format=%H %ct", "HEAD")
	if err != nil {
		return nil, err
	}
	commit, seconds, _ := strings.Cut(strings.TrimSuffix(head, "\n"), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the time of commit %s: %w", commit, err)
	}
	changes, err := git(ctx, root, "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	return &tree{root: root, commit: commit, time: time.Unix(unix, 0).UTC(), dirty: changes != ""}, nil
}

// label returns the commit for versions and file names, marked if the tree differs
// from it.
func (t *tree) label() string {
	if t.dirty {
		return t.commit[:commitLen] + ".dirty"
	}
	return t.commit[:commitLen]
}

// files returns the files of the commit, with slashes and sorted. In a dirty tree
// they are those of the next commit: new files that git does not ignore count,
// deleted ones do not.
func (t *tree) files(ctx context.Context) (names []string, err error) {
	list, err := git(ctx, t.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(strings.TrimRight(list, "\x00"), "\x00") {
		info, err := os.Lstat(t.path(name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// path returns the path of a file in the tree, whose name has slashes.
func (t *tree) path(name string) string { return filepath.Join(t.root, filepath.FromSlash(name)) }

// git runs git in dir.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	return execute(ctx, dir, nil, "git", args...)
}

// execute runs a program in dir, with env besides the environment, and returns what it
// prints. An error has what it prints to standard error.
func execute(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), env...)
	out, err := cmd.Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		err = fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, bytes.TrimSpace(failed.Stderr))
	}
	return string(out), err
}
