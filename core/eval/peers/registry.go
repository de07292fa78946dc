package peers

import (
	"context"
	"encoding/json"
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
// directory of this package, build the directory of built programs.
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

// npm has its packages in node/package.json, with their integrity in
// package-lock.json. Scripts of packages are not run.
type npm struct{}

func (npm) String() string { return "npm" }

func (npm) together() bool { return true }

func (npm) install(ctx context.Context, root, _ string, _ Peer) error {
	dir := filepath.Join(root, "node")
	if newer(filepath.Join(dir, "node_modules", ".package-lock.json"), filepath.Join(dir, "package-lock.json")) {
		return needs("node")
	}
	if err := needs("node", "npm"); err != nil {
		return err
	}
	return run(ctx, "npm", "ci", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--loglevel=error")
}

func (npm) command(root, _ string, p Peer) *exec.Cmd {
	return exec.Command("node", filepath.Join(root, "node", "serve.mjs"), p.Adapter)
}

func (npm) version(root, name string) (string, error) {
	var manifest struct{ Dependencies map[string]string }
	text, err := os.ReadFile(filepath.Join(root, "node", "package.json"))
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	return pinned(manifest.Dependencies[name], name, err)
}

// pypi has a file per package under python/requirements, with the hashes of all that
// it needs. Only wheels are installed, so no script of a package runs. Packages share
// a virtual environment.
type pypi struct{}

func (pypi) String() string { return "PyPI" }

func (pypi) together() bool { return false }

func (pypi) install(ctx context.Context, root, build string, p Peer) error {
	requirements, done := filepath.Join(root, "python", "requirements", p.Name+".txt"), filepath.Join(build, "python", p.Name+".installed")
	if newer(done, requirements) {
		return nil
	}
	if err := needs("python3"); err != nil {
		return err
	}
	if _, err := os.Stat(python(build)); err != nil {
		if err := run(ctx, "python3", "-m", "venv", filepath.Join(build, "python")); err != nil {
			return err
		}
	}
	err := run(ctx, python(build), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--no-deps",
		"--require-hashes", "--only-binary", ":all:", "-r", requirements)
	if err != nil {
		return err
	}
	return os.WriteFile(done, nil, 0o644)
}

func (pypi) command(root, build string, p Peer) *exec.Cmd {
	return exec.Command(python(build), filepath.Join(root, "python", "serve.py"), p.Adapter)
}

func (pypi) version(root, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "python", "requirements", name+".txt"))
	return match(`(?m)^`+regexp.QuoteMeta(name)+`==(\S+)`, text, name, err)
}

func python(build string) string { return filepath.Join(build, "python", "bin", "python") }

// golang has its own module; its go.sum has the hashes of its requirements.
type golang struct{}

func (golang) String() string { return "Go" }

func (golang) together() bool { return true }

func (golang) install(ctx context.Context, root, build string, _ Peer) error {
	if err := needs("go"); err != nil {
		return err
	}
	if err := os.MkdirAll(build, 0o755); err != nil {
		return err
	}
	return run(ctx, "go", "-C", filepath.Join(root, "golang"), "build", "-mod=readonly", "-o", filepath.Join(build, "golang"), ".")
}

func (golang) command(_, build string, _ Peer) *exec.Cmd {
	return exec.Command(filepath.Join(build, "golang"))
}

func (golang) version(root, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "golang", "go.mod"))
	return match(`(?m)^require `+regexp.QuoteMeta(name)+` (\S+)`, text, name, err)
}
