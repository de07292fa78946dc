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
)

// exitSkipped is the exit code of a package.sh that lacks a tool.
const exitSkipped = 3

// packages runs the package.sh of each language, which makes its package in the
// release's folder.
func (r *release) packages(ctx context.Context) error {
	var scripts []string
	for _, pattern := range []string{"wasm/bindings/*/package.sh", "wasm/bindings/*/*/package.sh"} {
		found, err := filepath.Glob(r.path(pattern))
		if err != nil {
			return err
		}
		scripts = append(scripts, found...)
	}
	if npm := r.path("edge/package.sh"); exists(npm) {
		scripts = append(scripts, npm)
	}
	slices.Sort(scripts)
	for _, script := range scripts {
		if err := r.runPackage(ctx, script); err != nil {
			return err
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// runPackage runs one script. It prints one line and exits with 3 if a tool is
// missing; the release then lacks that package and says so at its end.
func (r *release) runPackage(ctx context.Context, script string) error {
	name, err := filepath.Rel(r.root, script)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "sh", script, r.out)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.time.Unix(), 10))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if code := new(exec.ExitError); errors.As(err, &code) && code.ExitCode() == exitSkipped {
		r.skip(name + ": " + strings.TrimPrefix(lastLine(stdout.String()+stderr.String()), "skipped: "))
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s%s", name, err, &stdout, &stderr)
	}
	fmt.Fprintf(r.log, "   %s\n", name)
	return nil
}

// lastLine returns the last line of text that is not empty.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
