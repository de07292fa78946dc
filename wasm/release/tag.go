package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/addrspec/addrspec/core"
)

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
	if commit, err = t.commitWithModule(ctx, version); err != nil {
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
	g := plumbing{dir: t.root, env: []string{
		"GIT_INDEX_FILE=" + filepath.Join(dir, "index"),
		"GIT_AUTHOR_NAME=addrspec release", "GIT_AUTHOR_EMAIL=release@addrspec.example", "GIT_AUTHOR_DATE=" + at,
		"GIT_COMMITTER_NAME=addrspec release", "GIT_COMMITTER_EMAIL=release@addrspec.example", "GIT_COMMITTER_DATE=" + at,
	}}
	g.run(ctx, "read-tree", t.commit)
	g.run(ctx, "add", "-f", embeddedModule)
	files := g.run(ctx, "write-tree")
	commit := g.run(ctx, "commit-tree", "-p", t.commit, "-m", "release "+goVersion(version)+" with the built module", files)
	return commit, g.err
}

// plumbing runs git with an environment of its own, until a command fails.
type plumbing struct {
	dir string
	env []string
	err error
}

// run returns what the command prints, or "" after a failure, which g.err has.
func (g *plumbing) run(ctx context.Context, args ...string) string {
	if g.err != nil {
		return ""
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = g.dir, append(os.Environ(), g.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.err = fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return strings.TrimSpace(string(out))
}
