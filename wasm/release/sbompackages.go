package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// addModule adds the WebAssembly modules and what their sources import.
func (r *release) addModule(libraries map[string]cdx.Component, depends map[string][]string) error {
	modules, err := r.importedModules("./wasm/guest", "./wasm/cli")
	if err != nil {
		return err
	}
	goRef := addGo(libraries, &debug.BuildInfo{GoVersion: runtime.Version()})
	for _, m := range moduleFiles {
		if !exists(r.inOut(m.name)) {
			continue
		}
		c, err := fileComponent(r.inOut(m.name))
		if err != nil {
			return err
		}
		libraries[c.BOMRef] = c
		depends[c.BOMRef] = append(depends[c.BOMRef], goRef)
		for _, library := range modules {
			depends[c.BOMRef] = append(depends[c.BOMRef], addLibrary(libraries, library))
		}
	}
	return nil
}

// importedModules returns the modules of others whose packages the packages import for
// WASI. The modules have no list of them, unlike programs.
func (r *release) importedModules(packages ...string) ([]*debug.Module, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=Module"}, packages...)...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -deps: %w", err)
	}
	found := map[string]*debug.Module{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p struct {
			Module *struct{ Path, Version, Sum string }
		}
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		if p.Module != nil && p.Module.Version != "" { // ours has none
			found[p.Module.Path] = &debug.Module{Path: p.Module.Path, Version: p.Module.Version, Sum: p.Module.Sum}
		}
	}
	return sortedModules(found), nil
}

// addPackages adds the packages of the languages. Each contains the module; that of npm
// also contains parts of other packages, which its bundler names.
func (r *release) addPackages(libraries map[string]cdx.Component, depends map[string][]string) error {
	return filepath.WalkDir(r.out, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipNoPackages(d.Name())
		}
		p, err := r.readPackage(file)
		if err != nil || !p.isPackage {
			return err
		}
		return r.addPackage(libraries, depends, file, p)
	})
}

// skipNoPackages leaves out the folders without packages: the sources of the Go module
// and what is not part of the release.
func skipNoPackages(folder string) error {
	if folder == "goproxy" || folder == workFolder {
		return fs.SkipDir
	}
	return nil
}

// addPackage adds one package and what it contains.
func (r *release) addPackage(libraries map[string]cdx.Component, depends map[string][]string, file string, p packageContents) error {
	c, err := fileComponent(file)
	if err != nil {
		return err
	}
	libraries[c.BOMRef] = c
	depends[c.BOMRef] = nil
	for _, program := range r.programs {
		if strings.HasPrefix(c.Name, "addrspec-"+r.version+"-"+program.String()+".") {
			depends[c.BOMRef] = append(depends[c.BOMRef], "program/"+program.String())
		}
	}
	if p.hasModule {
		depends[c.BOMRef] = append(depends[c.BOMRef], "file/addrspec.wasm")
	}
	for _, name := range p.bundled {
		ref, err := r.addNPM(libraries, name)
		if err != nil {
			return err
		}
		depends[c.BOMRef] = append(depends[c.BOMRef], ref)
	}
	return nil
}

// packageContents is what matters of the files in a package.
type packageContents struct {
	isPackage bool
	hasModule bool     // addrspec.wasm of this release
	bundled   []string // packages of npm, parts of which esbuild put into it
}

// bundledFrom matches the comments in which esbuild names the file that the following
// code comes from.
var bundledFrom = regexp.MustCompile(`(?m)^\s*// (?:[^\n ]*/)?node_modules/((?:@[^/\n]+/)?[^/\n]+)/`)

// readPackage reads a file of the release. A file with the name of the module that
// differs from the released one is an error: that package was made of an old build.
func (r *release) readPackage(file string) (p packageContents, err error) {
	module, err := digestFile(r.inOut("addrspec.wasm"))
	if err != nil {
		return p, err
	}
	names := map[string]bool{}
	p.isPackage, err = contents(file, func(name string, data []byte) error {
		if strings.HasSuffix(name, "/addrspec.wasm") || name == "addrspec.wasm" {
			p.hasModule = true
			if digestOf(data) != module {
				return fmt.Errorf("%s in %s is not the module of this release: its package.sh took an old one", name, filepath.Base(file))
			}
		}
		if hasSuffix(name, ".js", ".mjs", ".cjs") {
			for _, match := range bundledFrom.FindAllSubmatch(data, -1) {
				names[string(match[1])] = true
			}
		}
		return nil
	})
	p.bundled = slices.Sorted(maps.Keys(names))
	return p, err
}

// addNPM adds a package of npm, at the version in the lock file of edge/.
func (r *release) addNPM(libraries map[string]cdx.Component, name string) (string, error) {
	text, err := os.ReadFile(r.path("edge/package-lock.json"))
	if err != nil {
		return "", err
	}
	var lock struct {
		Packages map[string]struct{ Version, License, Integrity string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return "", fmt.Errorf("edge/package-lock.json: %w", err)
	}
	found, ok := lock.Packages["node_modules/"+name]
	if !ok {
		return "", fmt.Errorf("the npm package has code of %s, which edge/package-lock.json does not list", name)
	}
	purl := "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + found.Version
	libraries[purl] = cdx.Component{
		Type: cdx.ComponentTypeLibrary, BOMRef: purl, Name: name, Version: found.Version, PackageURL: purl,
		Licenses:   &cdx.Licenses{{License: &cdx.License{ID: found.License}}},
		Properties: &[]cdx.Property{{Name: "npm:integrity", Value: found.Integrity}},
	}
	return purl, nil
}
