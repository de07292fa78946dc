package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
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
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// sbom writes the bill of materials, CycloneDX 1.6, by the library of the format's
// makers (Apache-2.0). It comes from what is in the built files: the Go linker wrote
// into each program which modules at which versions it contains.
func (r *release) sbom(context.Context) error {
	bom := cdx.NewBOM()
	bom.SerialNumber = "urn:uuid:" + r.serial().String()
	main := r.component()
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &main}
	libraries := newLibraries()
	depends := map[string][]string{}
	for _, p := range r.programs {
		if err := addProgram(libraries, depends, p, r.programVersion()); err != nil {
			return err
		}
	}
	if err := r.addModule(libraries, depends); err != nil {
		return err
	}
	if err := r.addPackages(libraries, depends); err != nil {
		return err
	}
	bom.Components = sortedComponents(libraries)
	bom.Dependencies = dependencies(main.BOMRef, libraries, depends)
	return r.writeFile("addrspec-"+r.version+".cdx.json", func(w io.Writer) error {
		encoder := cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON)
		encoder.SetPretty(true)
		return encoder.EncodeVersion(bom, cdx.SpecVersion1_6)
	})
}

// serial returns a number that depends on the commit alone (RFC 9562 section 5.5).
func (r *release) serial() uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://"+goModule+"@"+r.programVersion()))
}

// component returns the component that the bill is about.
func (r *release) component() cdx.Component {
	return cdx.Component{
		Type: cdx.ComponentTypeApplication, BOMRef: "addrspec", Name: "addrspec", Version: r.programVersion(),
		PackageURL: "pkg:golang/" + goModule + "@" + goVersion(r.version),
		Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
	}
}

// addProgram adds a program and what it contains.
func addProgram(libraries map[string]cdx.Component, depends map[string][]string, p program, version string) error {
	info, err := buildinfo.ReadFile(p.file)
	if err != nil {
		return err
	}
	digest, err := digestFile(p.file)
	if err != nil {
		return err
	}
	ref := "program/" + p.String()
	libraries[ref] = cdx.Component{
		Type: cdx.ComponentTypeFile, BOMRef: ref, Name: p.String() + "/" + p.name(), Version: version,
		Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: digest}},
	}
	goRef := addGo(libraries, info)
	depends[ref] = append(depends[ref], goRef)
	for _, m := range info.Deps {
		depends[ref] = append(depends[ref], addLibrary(libraries, linked(m)))
	}
	return nil
}

// addGo adds the tool chain, whose runtime and standard library are in every program.
func addGo(libraries map[string]cdx.Component, info *debug.BuildInfo) string {
	version := info.GoVersion[len("go"):]
	purl := "pkg:golang/stdlib@" + version
	libraries[purl] = cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: purl, Name: "stdlib", Version: version, PackageURL: purl}
	return purl
}

// addLibrary adds a Go module. Its sum is that of go.sum, which is no plain SHA-256 of a
// file, so it is a property.
func addLibrary(libraries map[string]cdx.Component, m *debug.Module) string {
	purl := "pkg:golang/" + m.Path + "@" + m.Version
	libraries[purl] = cdx.Component{
		Type: cdx.ComponentTypeLibrary, BOMRef: purl, Name: m.Path, Version: m.Version, PackageURL: purl,
		Properties: &[]cdx.Property{{Name: "go:sum", Value: m.Sum}},
	}
	return purl
}

// newLibraries returns an empty set of components, by reference.
func newLibraries() map[string]cdx.Component { return map[string]cdx.Component{} }

func sortedComponents(libraries map[string]cdx.Component) *[]cdx.Component {
	list := make([]cdx.Component, 0, len(libraries))
	for _, ref := range slices.Sorted(maps.Keys(libraries)) {
		list = append(list, libraries[ref])
	}
	return &list
}

// dependencies returns what each file depends on, and that the release has all files.
func dependencies(main string, libraries map[string]cdx.Component, depends map[string][]string) *[]cdx.Dependency {
	files := slices.DeleteFunc(slices.Sorted(maps.Keys(depends)), func(ref string) bool { return libraries[ref].Type != cdx.ComponentTypeFile })
	list := []cdx.Dependency{{Ref: main, Dependencies: &files}}
	for _, ref := range slices.Sorted(maps.Keys(libraries)) {
		on := slices.Compact(slices.Sorted(slices.Values(depends[ref])))
		list = append(list, cdx.Dependency{Ref: ref, Dependencies: &on})
	}
	return &list
}

// digestOf returns the SHA-256 of bytes in hexadecimal.
func digestOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// fileComponent returns the component of a file of the release.
func fileComponent(path string) (cdx.Component, error) {
	digest, err := digestFile(path)
	name := filepath.Base(path)
	return cdx.Component{
		Type: cdx.ComponentTypeFile, BOMRef: "file/" + name, Name: name,
		Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: digest}},
	}, err
}

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

// addPackages adds the packages of the languages. Each contains the module, or what was
// translated from it; that of npm also contains parts of other packages, which its bundler
// names; the others name what they need in files of their own.
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

// skipNoPackages leaves out the directories without packages: the sources of the Go module
// and what is not part of the release.
func skipNoPackages(directory string) error {
	if directory == "goproxy" || directory == workDirectory {
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
	addRequirements(libraries, depends, c.BOMRef, p.requires)
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
	requires  requirements
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
		if err := p.requires.read(name, data); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		if hasSuffix(name, ".js", ".mjs", ".cjs") {
			for _, match := range bundledFrom.FindAllSubmatch(data, -1) {
				names[string(match[1])] = true
			}
		}
		return nil
	})
	p.bundled = slices.Sorted(maps.Keys(names))
	if p.requires.module != "" {
		p.hasModule = true
		if p.requires.module != module && err == nil {
			err = fmt.Errorf("the C in %s is not of the module of this release: its package.sh took an old one", filepath.Base(file))
		}
	}
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
