package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
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
	files := slices.Sorted(maps.Keys(depends))
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
