package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// platform is an operating system and an architecture, by their Go names.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "-" + p.arch }

// platforms are those that the program is built for.
var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// program is the built program of one platform.
type program struct {
	platform
	file string
}

// name returns the file name that users run.
func (p platform) name() string {
	if p.os == "windows" {
		return "addrspec.exe"
	}
	return "addrspec"
}

// binaries compiles the program for every platform, outside the release: archives
// packs what users get.
func (r *release) binaries(ctx context.Context) error {
	for _, p := range platforms {
		file := filepath.Join(r.out, workFolder, p.String(), p.name())
		if err := r.compile(ctx, p, file); err != nil {
			return err
		}
		r.programs = append(r.programs, program{p, file})
	}
	return nil
}

// workFolder is removed before the sums are written.
const workFolder = ".work"

// compile compiles the program. Its flags are those of build.sh, and the settings that
// change the code do not come from the user's environment.
func (r *release) compile(ctx context.Context, p platform, file string) error {
	fmt.Fprintf(r.log, "   compiling for %s\n", p)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid= -X main.release="+r.programVersion(), "-o", file, "./origin")
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0",
		"GOWORK=off", "GOOS="+p.os, "GOARCH="+p.arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build for %s: %w\n%s", p, err, out)
	}
	return nil
}

// programVersion returns what `addrspec --version` prints: the version and, after a
// plus (semver.org, 10), the commit.
func (r *release) programVersion() string { return r.version + "+" + r.label() }

// output runs the program of this machine and returns what it prints.
func (r *release) output(ctx context.Context, args ...string) ([]byte, error) {
	for _, p := range r.programs {
		if p.os == runtime.GOOS && p.arch == runtime.GOARCH {
			return runProgram(ctx, p.file, args...)
		}
	}
	return nil, fmt.Errorf("no program was built for this machine, %s/%s, and its man page comes from running it: build on one of the platforms of the release", runtime.GOOS, runtime.GOARCH)
}

func runProgram(ctx context.Context, file string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, file, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("addrspec %s: %w: %s", strings.Join(args, " "), err, &stderr)
	}
	return out, nil
}
