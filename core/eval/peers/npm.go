package peers

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
)

// npm has its packages in node/package.json, with their integrity in
// package-lock.json. Scripts of packages are not run.
type npm struct{}

func (npm) String() string { return "npm" }

func (npm) together() bool { return true }

func (npm) install(ctx context.Context, root, _ string, _ Peer) error {
	folder := filepath.Join(root, "node")
	if newer(filepath.Join(folder, "node_modules", ".package-lock.json"), filepath.Join(folder, "package-lock.json")) {
		return needs("node")
	}
	if err := needs("node", "npm"); err != nil {
		return err
	}
	return run(ctx, "npm", "ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--loglevel=error")
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
