package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// native returns how many nanoseconds a check takes in Go, by core/speed in a process
// of its own, since the origin does not link package core: facts, json or mail.
func (l *lab) native(ctx context.Context, work, email string) (float64, error) {
	program, err := l.speed()
	if err != nil {
		return 0, err
	}
	out, err := exec.CommandContext(ctx, program, work, (l.span / 4).String(), email).Output()
	if err != nil {
		return 0, explain(err)
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}

// buildPackage builds a program of this project, as ./build.sh does.
func (l *lab) buildPackage(ctx context.Context, name, path string) (string, error) {
	to := filepath.Join(l.dir, name)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", to, "github.com/addrspec/addrspec/"+path)
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return to, nil
}
