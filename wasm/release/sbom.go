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
	"path"
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
func (r *release) sbom(ctx context.Context) error {
	b := newBill()
	for _, p := range r.programs {
		info, err := buildinfo.ReadFile(p.file)
		if err != nil {
			return err
		}
		ref := "program/" + p.String()
		if err := b.addFile(ref, p.String()+"/"+p.name(), r.programVersion(), p.file); err != nil {
			return err
		}
		b.addGo(ref, info.GoVersion, info.Deps)
	}
	modules, err := r.importedModules(ctx, "./wasm/guest", "./wasm/cli")
	if err != nil {
		return err
	}
	for _, m := range moduleFiles {
		if !exists(r.inOut(m.name)) {
			continue
		}
		if err := b.addFile("file/"+m.name, m.name, "", r.inOut(m.name)); err != nil {
			return err
		}
		b.addGo("file/"+m.name, runtime.Version(), modules)
	}
	err = filepath.WalkDir(r.out, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return r.addPackage(b, file)
		case d.Name() == "goproxy" || d.Name() == workDirectory: // sources, and what is not part of the release
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return err
	}
	return writeFile(r.inOut("addrspec-"+r.version+".cdx.json"), func(w io.Writer) error {
		encoder := cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON)
		encoder.SetPretty(true)
		return encoder.EncodeVersion(r.document(b), cdx.SpecVersion1_6)
	})
}

// document returns the bill as the format has it. The release depends on all its files.
func (r *release) document(b *bill) *cdx.BOM {
	main := cdx.Component{
		Type: cdx.ComponentTypeApplication, BOMRef: "addrspec", Name: "addrspec", Version: r.programVersion(),
		PackageURL: "pkg:golang/" + goModule + "@" + goVersion(r.version), Licenses: licensed("Apache-2.0"),
	}
	var files []string
	components, dependencies := []cdx.Component{}, []cdx.Dependency{{Ref: main.BOMRef, Dependencies: &files}}
	for _, ref := range slices.Sorted(maps.Keys(b.components)) {
		if b.components[ref].Type == cdx.ComponentTypeFile {
			files = append(files, ref)
		}
		on := slices.Compact(slices.Sorted(slices.Values(b.depends[ref])))
		components = append(components, b.components[ref])
		dependencies = append(dependencies, cdx.Dependency{Ref: ref, Dependencies: &on})
	}
	bom := cdx.NewBOM()
	// The number depends on the commit alone (RFC 9562 section 5.5).
	commit := "https://" + goModule + "@" + r.programVersion()
	bom.SerialNumber = "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, []byte(commit)).String()
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &main}
	bom.Components, bom.Dependencies = &components, &dependencies
	return bom
}

// bill collects the components of a release by reference, and which others each depends on.
type bill struct {
	components map[string]cdx.Component
	depends    map[string][]string
}

func newBill() *bill { return &bill{map[string]cdx.Component{}, map[string][]string{}} }

// add adds a component on which user depends.
func (b *bill) add(user string, c cdx.Component) {
	b.components[c.BOMRef] = c
	b.depends[user] = append(b.depends[user], c.BOMRef)
}

func (b *bill) addFile(ref, name, version, file string) error {
	digest, err := digestFile(file)
	b.components[ref] = cdx.Component{
		Type: cdx.ComponentTypeFile, BOMRef: ref, Name: name, Version: version, Hashes: hashes(digest),
	}
	return err
}

// addGo adds what Go compiled into user: its modules, and the runtime and the standard library of the tool chain. The
// sum of a module is that of go.sum, which is no plain SHA-256 of a file, so it is a property.
func (b *bill) addGo(user, goVersion string, modules []*debug.Module) {
	b.add(user, library("pkg:golang/stdlib", "stdlib", strings.TrimPrefix(goVersion, "go")))
	for _, m := range modules {
		c := library("pkg:golang/"+linked(m).Path, linked(m).Path, linked(m).Version)
		c.Properties = property("go:sum", linked(m).Sum)
		b.add(user, c)
	}
}

// library returns the component of a library. Its version is "" where a package manager chooses it.
func library(purl, name, version string) cdx.Component {
	if version != "" {
		purl += "@" + version
	}
	return cdx.Component{
		Type: cdx.ComponentTypeLibrary, BOMRef: purl, Name: name, Version: version, PackageURL: purl,
	}
}

func hashes(digest string) *[]cdx.Hash {
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: digest}}
}

func property(name, value string) *[]cdx.Property {
	return &[]cdx.Property{{Name: name, Value: value}}
}

func licensed(id string) *cdx.Licenses { return &cdx.Licenses{{License: &cdx.License{ID: id}}} }

// importedModules returns the modules of others that the packages import for WASI. WebAssembly modules have no list of
// them, unlike programs.
func (r *release) importedModules(ctx context.Context, packages ...string) (modules []*debug.Module, err error) {
	env := []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0"}
	out, err := execute(ctx, r.root, env, "go", append([]string{"list", "-deps", "-json=Module"}, packages...)...)
	if err != nil {
		return nil, err
	}
	for decoder := json.NewDecoder(strings.NewReader(out)); decoder.More(); {
		var p struct{ Module *debug.Module }
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		if p.Module != nil && p.Module.Version != "" { // ours has none
			modules = append(modules, p.Module)
		}
	}
	return modules, nil
}

// bundledFrom matches the comments in which esbuild names the file that the following
// code comes from.
var bundledFrom = regexp.MustCompile(`(?m)^\s*// (?:[^\n ]*/)?node_modules/((?:@[^/\n]+/)?[^/\n]+)/`)

// addPackage adds a file of the release if it is a package. That of a language contains the module, or what was
// translated from it; that of npm also contains parts of other packages, which its bundler names; the others name what
// they need in files of their own.
func (r *release) addPackage(b *bill, file string) error {
	released, err := digestFile(r.inOut("addrspec.wasm"))
	if err != nil {
		return err
	}
	name := filepath.Base(file)
	p := packageFile{bill: b, ref: "file/" + name}
	bundled := map[string]bool{}
	isPackage, err := contents(file, func(inside string, data []byte) error {
		if path.Base(inside) == "addrspec.wasm" {
			p.module = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		if err := p.readManifest(inside, data); err != nil {
			return err
		}
		if p.module != "" && p.module != released {
			return fmt.Errorf("%s is not of the module of this release: its package.sh took an old one", inside)
		}
		if hasSuffix(inside, ".js", ".mjs", ".cjs") {
			for _, match := range bundledFrom.FindAllSubmatch(data, -1) {
				bundled[string(match[1])] = true
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !isPackage && !hasSuffix(file, ".deb", ".rpm", imageSuffix) { // of which nothing but the program is listed
		return nil
	}
	if err := b.addFile(p.ref, name, "", file); err != nil {
		return err
	}
	if p.module != "" {
		b.depends[p.ref] = append(b.depends[p.ref], "file/addrspec.wasm")
	}
	for _, program := range r.programs {
		system := program.os == "linux" && strings.HasPrefix(name, "addrspec_"+r.version+"_"+program.arch+".")
		if system || strings.HasPrefix(name, "addrspec-"+r.version+"-"+program.String()+".") {
			b.depends[p.ref] = append(b.depends[p.ref], "program/"+program.String())
		}
	}
	return r.addBundled(b, p.ref, slices.Collect(maps.Keys(bundled)))
}

// addBundled adds packages of npm, at the versions in the lock file of edge/.
func (r *release) addBundled(b *bill, user string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	text, err := os.ReadFile(r.path("edge/package-lock.json"))
	if err != nil {
		return err
	}
	var lock struct {
		Packages map[string]struct{ Version, License, Integrity string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return fmt.Errorf("edge/package-lock.json: %w", err)
	}
	for _, name := range names {
		found, ok := lock.Packages["node_modules/"+name]
		if !ok {
			return fmt.Errorf("the npm package has code of %s, which edge/package-lock.json does not list", name)
		}
		c := library("pkg:npm/"+strings.Replace(name, "@", "%40", 1), name, found.Version)
		c.Licenses, c.Properties = licensed(found.License), property("npm:integrity", found.Integrity)
		b.add(user, c)
	}
	return nil
}
