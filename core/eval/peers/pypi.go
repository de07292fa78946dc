package peers

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

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
