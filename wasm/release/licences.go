package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
)

// licencesFile has the licences of everything that is compiled into the programs.
// Most of them require that their text goes with copies of the code.
const licencesFile = "THIRD-PARTY-LICENSES.txt"

// licences writes THIRD-PARTY-LICENSES.txt.
func (r *release) licences(ctx context.Context) error {
	modules, err := r.linkedModules()
	if err != nil {
		return err
	}
	golang, err := r.goTool(ctx)
	if err != nil {
		return err
	}
	text := bytes.NewBufferString("What the addrspec programs contain besides addrspec itself, and under which licence.\n")
	if err := addLicences(text, "Go "+golang.GOVERSION+", its standard library and runtime", golang.GOROOT); err != nil {
		return err
	}
	for _, m := range modules {
		dir, err := r.moduleDir(ctx, m)
		if err != nil {
			return err
		}
		if err := addLicences(text, m.Path+" "+m.Version, dir); err != nil {
			return err
		}
	}
	return os.WriteFile(r.inOut(licencesFile), text.Bytes(), 0o644)
}

// linkedModules returns the modules in any of the programs, by path. A program of one
// system has modules that those of others have not.
func (r *release) linkedModules() ([]*debug.Module, error) {
	found := map[string]*debug.Module{}
	for _, p := range r.programs {
		info, err := buildinfo.ReadFile(p.file)
		if err != nil {
			return nil, err
		}
		for _, m := range info.Deps {
			found[m.Path] = linked(m)
		}
	}
	return sortedModules(found), nil
}

// goEnv describes the Go tool chain that compiles the programs.
type goEnv struct{ GOROOT, GOVERSION string }

func (r *release) goTool(ctx context.Context) (env goEnv, err error) {
	cmd := exec.CommandContext(ctx, "go", "env", "-json", "GOROOT", "GOVERSION")
	cmd.Dir = r.root
	out, err := cmd.Output()
	if err != nil {
		return env, fmt.Errorf("go env: %w", err)
	}
	return env, json.Unmarshal(out, &env)
}

func sortedModules(found map[string]*debug.Module) (list []*debug.Module) {
	for _, path := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[path])
	}
	return list
}

// linked returns the module that m was replaced by, or m.
func linked(m *debug.Module) *debug.Module {
	if m.Replace != nil {
		return m.Replace
	}
	return m
}

// moduleDir returns the directory of a module in the module cache.
func (r *release) moduleDir(ctx context.Context, m *debug.Module) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", m.Path+"@"+m.Version)
	cmd.Dir = r.root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go mod download %s: %w", m.Path, err)
	}
	var found struct{ Dir string }
	return found.Dir, errors.Join(json.Unmarshal(out, &found))
}

// licenceName matches the names of files with a licence or a notice, which the Apache
// licence (section 4d) requires to be passed on.
var licenceName = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying|^notice|^patents`)

// addLicences appends the licence files in dir. It is an error if there is none.
func addLicences(text *bytes.Buffer, what, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !licenceName.MatchString(e.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		found = true
		writeLicence(text, what+", "+e.Name(), content)
	}
	if !found {
		return fmt.Errorf("%s has no licence file in its topmost directory: look whether we may ship it", what)
	}
	return nil
}

func writeLicence(w io.Writer, title string, content []byte) {
	fmt.Fprintf(w, "\n%s\n%s\n\n%s\n", title, bytes.Repeat([]byte("-"), len(title)), bytes.TrimSpace(content))
}
