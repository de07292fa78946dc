package peers

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// golang has a module of its own, whose go.sum has the hashes of its requirements.
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
