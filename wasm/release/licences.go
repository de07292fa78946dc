package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// licencesFile has the licences of everything that is compiled into the programs.
// Most of them require that their text goes with copies of the code.
const licencesFile = "THIRD-PARTY-LICENSES.txt"

// licences writes THIRD-PARTY-LICENSES.txt. A program of one system has modules that
// those of others do not have.
func (r *release) licences(ctx context.Context) error {
	found := map[string]string{}
	for _, p := range r.programs {
		info, err := buildinfo.ReadFile(p.file)
		if err != nil {
			return err
		}
		for _, m := range info.Deps {
			found[m.Path] = linked(m).Path + "@" + linked(m).Version
		}
	}
	golang, err := execute(ctx, r.root, nil, "go", "env", "GOROOT", "GOVERSION")
	if err != nil {
		return err
	}
	root, version, _ := strings.Cut(strings.TrimSuffix(golang, "\n"), "\n")
	text := bytes.NewBufferString("What the addrspec programs contain besides addrspec itself, and under which licence.\n")
	if err := addLicences(text, "Go "+version+", its standard library and runtime", root); err != nil {
		return err
	}
	download := []string{"mod", "download", "-json"}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		download = append(download, found[path])
	}
	modules, err := execute(ctx, r.root, nil, "go", download...)
	if err != nil {
		return err
	}
	for decoder := json.NewDecoder(strings.NewReader(modules)); decoder.More(); {
		var m struct{ Path, Version, Dir string }
		if err := decoder.Decode(&m); err != nil {
			return err
		}
		if err := addLicences(text, m.Path+" "+m.Version, m.Dir); err != nil {
			return err
		}
	}
	return os.WriteFile(r.inOut(licencesFile), text.Bytes(), 0o644)
}

// linked returns the module that m was replaced by, or m.
func linked(m *debug.Module) *debug.Module {
	if m.Replace != nil {
		return m.Replace
	}
	return m
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
		title := what + ", " + e.Name()
		fmt.Fprintf(text, "\n%s\n%s\n\n%s\n", title, strings.Repeat("-", len(title)), bytes.TrimSpace(content))
	}
	if !found {
		return fmt.Errorf("%s has no licence file in its topmost directory: look whether we may ship it", what)
	}
	return nil
}
