package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// installTime is the limit for one command of an installation.
const installTime = 5 * time.Minute

// registry installs packages of one kind and starts their adapters. Root is the
// folder of this package, build a folder for what is built.
type registry interface {
	fmt.Stringer
	// install makes a peer ready to start.
	install(ctx context.Context, root, build string, p Peer) error
	// together reports whether install installs all peers of the registry.
	together() bool
	// command runs the adapter.
	command(root, build string, p Peer) *exec.Cmd
	// version reads the pinned version from the lock file.
	version(root, name string) (string, error)
}

func match(pattern string, text []byte, name string, err error) (string, error) {
	found := regexp.MustCompile(pattern).FindSubmatch(text)
	if found == nil {
		return pinned("", name, err)
	}
	return pinned(string(found[1]), name, err)
}

func pinned(version, name string, err error) (string, error) {
	if err == nil && version == "" {
		err = errors.New("its registry's lock file does not have it")
	}
	if err != nil {
		return "", fmt.Errorf("version of %s: %w", name, err)
	}
	return version, nil
}

// needs reports the first program that is not installed.
func needs(programs ...string) error {
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s is not installed", name)
		}
	}
	return nil
}

// newer reports whether a exists and is newer than b.
func newer(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && x.ModTime().After(y.ModTime())
}

// run runs a command. If it fails, the error has the line that says why: npm's first
// one, the last of others.
func run(ctx context.Context, name string, arguments ...string) error {
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, arguments...).CombinedOutput()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s took longer than %s", name, installTime)
	}
	if err != nil {
		why := lastLine(out)
		if name == "npm" {
			why, _, _ = strings.Cut(string(out), "\n")
		}
		return fmt.Errorf("%s: %w: %s", filepath.Base(name), err, why)
	}
	return nil
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
