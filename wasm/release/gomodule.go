package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/addrspec/addrspec/core"
)

// embeddedModule is what the Go module has besides the files of the commit. git does
// not have it: it is built, has 3 MB and changes often.
const embeddedModule = "wasm/module/addrspec.wasm"

// goModule is the module path, and goVersion its version as Go writes it.
const goModule = "github.com/addrspec/addrspec"

func goVersion(version string) string { return "v" + version }

func goproxyCommand(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		return usageError{errors.New("goproxy needs one directory")}
	}
	t, err := openTree(ctx)
	if err != nil {
		return err
	}
	directory, err := t.writeProxy(ctx, args[0], core.Version)
	if err == nil {
		fmt.Fprintln(out, directory)
	}
	return err
}

// writeProxy writes the Go module as the file tree that a module proxy serves
// (go.dev/ref/mod#goproxy-protocol) into dir/goproxy, and returns that directory. The zip
// file has the files of the commit and the built module. golang.org/x/mod/zip
// (BSD-3-Clause) is what the go command itself uses; it leaves out nested modules.
func (t *tree) writeProxy(ctx context.Context, dir, version string) (string, error) {
	directory := filepath.Join(dir, "goproxy")
	versions := filepath.Join(directory, filepath.FromSlash(goModule), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return "", err
	}
	manifest, err := os.ReadFile(t.path("go.mod"))
	if err != nil {
		return "", err
	}
	info, err := json.Marshal(struct{ Version, Time string }{goVersion(version), t.time.Format(time.RFC3339)})
	if err != nil {
		return "", err
	}
	names, err := t.files(ctx)
	if err != nil {
		return "", err
	}
	if !exists(t.path(embeddedModule)) {
		return "", fmt.Errorf("%s is missing: run ./build.sh first", embeddedModule)
	}
	var files []zip.File
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(names, embeddedModule)))) {
		files = append(files, treeFile{t, name})
	}
	file := func(suffix string) string { return filepath.Join(versions, goVersion(version)+suffix) }
	return directory, errors.Join(
		os.WriteFile(filepath.Join(versions, "list"), []byte(goVersion(version)+"\n"), 0o644),
		os.WriteFile(file(".info"), info, 0o644),
		os.WriteFile(file(".mod"), manifest, 0o644),
		writeFile(file(".zip"), func(w io.Writer) error {
			return zip.Create(w, module.Version{Path: goModule, Version: goVersion(version)}, files)
		}))
}

// treeFile is a file of the tree for package zip.
type treeFile struct {
	*tree
	name string
}

func (f treeFile) Path() string                 { return f.name }
func (f treeFile) Lstat() (os.FileInfo, error)  { return os.Lstat(f.path(f.name)) }
func (f treeFile) Open() (io.ReadCloser, error) { return os.Open(f.path(f.name)) }

// tagCommand makes the tag that Go's module proxy reads. It names a commit that is not
// on any branch: its only parent is HEAD, and it adds the built module. So the proxy
// has the same files as the zip file of the release.
func tagCommand(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q", args[0])}
	}
	t, err := openTree(ctx)
	if err != nil {
		return err
	}
	name, commit, err := t.tag(ctx, core.Version)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s is commit %s, HEAD with %s. Publish it with\n  git push origin %s\n", name, commit[:commitLen], embeddedModule, name)
	return nil
}

// tag makes the commit and its tag. It fails if the tag exists: a version that a proxy
// has seen must never change.
func (t *tree) tag(ctx context.Context, version string) (name, commit string, err error) {
	if t.dirty {
		return "", "", errors.New("the tree differs from its commit: commit or remove the changes (git status)")
	}
	commit, err = t.commitWithModule(ctx, version)
	if err != nil {
		return "", "", err
	}
	name = goVersion(version)
	_, err = git(ctx, t.root, "tag", name, commit)
	return name, commit, err
}

// commitWithModule returns a commit of HEAD and the built module. An index of its own
// leaves that of the checkout as it is, and a fixed name and time give the same hash
// wherever it is made.
func (t *tree) commitWithModule(ctx context.Context, version string) (string, error) {
	dir, err := os.MkdirTemp("", "addrspec-tag-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	at := t.time.Format(time.RFC3339)
	env := []string{
		"GIT_INDEX_FILE=" + filepath.Join(dir, "index"),
		"GIT_AUTHOR_NAME=addrspec release", "GIT_AUTHOR_EMAIL=release@addrspec.example", "GIT_AUTHOR_DATE=" + at,
		"GIT_COMMITTER_NAME=addrspec release", "GIT_COMMITTER_EMAIL=release@addrspec.example", "GIT_COMMITTER_DATE=" + at,
	}
	printed := ""
	for _, args := range [][]string{
		{"read-tree", t.commit}, {"add", "-f", embeddedModule}, {"write-tree"},
		{"commit-tree", "-p", t.commit, "-m", "release " + goVersion(version) + " with the built module"},
	} {
		if args[0] == "commit-tree" {
			args = append(args, printed) // the tree that was written
		}
		out, err := execute(ctx, t.root, env, "git", args...)
		if err != nil {
			return "", err
		}
		printed = strings.TrimSuffix(out, "\n")
	}
	return printed, nil
}
