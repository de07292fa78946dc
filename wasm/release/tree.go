package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

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
	root, err := git(ctx, ".", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("a release needs a git checkout: %w", err)
	}
	return openTreeIn(ctx, root)
}

// openTreeIn returns the checkout whose topmost folder is root.
func openTreeIn(ctx context.Context, root string) (*tree, error) {
	head, err := git(ctx, root, "show", "--no-patch", "--format=%H %ct", "HEAD")
	if err != nil {
		return nil, err
	}
	commit, seconds, _ := strings.Cut(head, " ")
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

// git runs git in dir and returns what it prints, without the last line break.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimRight(string(out), "\n"), nil
}
