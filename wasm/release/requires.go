package main

import (
	"encoding/xml"
	"fmt"
	"maps"
	"path"
	"regexp"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// requirements are the libraries that a package names in a file of its own: those that it
// contains or that a package manager installs with it.
type requirements struct {
	libraries map[string]cdx.Component // by reference
	direct    []string
	depends   map[string][]string // of a library, where the file says so
	module    string              // the SHA-256 of the module that was translated to C
}

// manifests are the files of packages that name libraries, by the end of their path.
var manifests = []struct {
	end  string
	read func(*requirements, []byte) error
}{
	{"/Cargo.lock", (*requirements).readCargo},
	{"META-INF/maven/io.github.addrspec/*/pom.xml", (*requirements).readMaven},
	{".dist-info/METADATA", (*requirements).readPython},
	{"/module/NOTICE", (*requirements).readNotice},
}

// read reads a file of a package if it is one of the manifests.
func (r *requirements) read(name string, data []byte) error {
	for _, m := range manifests {
		if matched, _ := path.Match(m.end, name); !matched && !strings.HasSuffix("/"+name, m.end) {
			continue
		}
		if err := m.read(r, data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// add adds a library and returns its reference. A version may be unknown, where a package
// manager chooses it.
func (r *requirements) add(purl, name, version string) string {
	if version != "" {
		purl += "@" + version
	}
	if r.libraries == nil {
		r.libraries, r.depends = map[string]cdx.Component{}, map[string][]string{}
	}
	r.libraries[purl] = cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: purl, Name: name, Version: version, PackageURL: purl}
	return purl
}

// cargoField matches a line of a package in Cargo.lock: a name and a text, or a dependency.
var cargoField = regexp.MustCompile(`(?m)^(?:(\w+) = )? ?"([^"]*)",?$`)

// readCargo reads Cargo.lock, which cargo writes: a section for each crate. The first lines of
// ours are what a user's Cargo.toml depends on; it has those of all features.
func (r *requirements) readCargo(data []byte) error {
	sections := strings.Split(string(data), "[[package]]\n")[1:]
	fields, on := make([]map[string]string, len(sections)), make([][]string, len(sections))
	refs := map[string]string{} // by name, and by name and version
	for n, section := range sections {
		fields[n] = map[string]string{}
		for _, match := range cargoField.FindAllStringSubmatch(section, -1) {
			if match[1] == "" {
				on[n] = append(on[n], match[2])
			}
			fields[n][match[1]] = match[2]
		}
		name, version := fields[n]["name"], fields[n]["version"]
		if name == "" || version == "" {
			return fmt.Errorf("package %d has no name or no version", n)
		}
		if fields[n]["checksum"] == "" {
			continue // the crate itself
		}
		ref := r.add("pkg:cargo/"+name, name, version)
		refs[name], refs[name+" "+version] = ref, ref
		r.setDigest(ref, fields[n]["checksum"])
	}
	return r.connect(fields, on, refs)
}

func (r *requirements) setDigest(ref, digest string) {
	c := r.libraries[ref]
	c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: digest}}
	r.libraries[ref] = c
}

// connect enters which crate needs which.
func (r *requirements) connect(fields []map[string]string, on [][]string, refs map[string]string) error {
	for n := range fields {
		for _, name := range on[n] {
			ref, ok := refs[name]
			if !ok {
				return fmt.Errorf("%s needs %s, which the file does not have", fields[n]["name"], name)
			}
			if own := refs[fields[n]["name"]+" "+fields[n]["version"]]; own != "" {
				r.depends[own] = append(r.depends[own], ref)
			} else {
				r.direct = append(r.direct, ref)
			}
		}
	}
	return nil
}

// readMaven reads the pom.xml in a jar. What has a scope is there already, or for tests.
func (r *requirements) readMaven(data []byte) error {
	var pom struct {
		Properties struct {
			All []struct {
				XMLName xml.Name
				Text    string `xml:",chardata"`
			} `xml:",any"`
		} `xml:"properties"`
		Dependencies []struct {
			Group    string `xml:"groupId"`
			Artifact string `xml:"artifactId"`
			Version  string `xml:"version"`
			Scope    string `xml:"scope"`
		} `xml:"dependencies>dependency"`
	}
	if err := xml.Unmarshal(data, &pom); err != nil {
		return err
	}
	var properties []string
	for _, p := range pom.Properties.All {
		properties = append(properties, "${"+p.XMLName.Local+"}", p.Text)
	}
	for _, d := range pom.Dependencies {
		if d.Scope == "" {
			version := strings.NewReplacer(properties...).Replace(d.Version)
			r.direct = append(r.direct, r.add("pkg:maven/"+d.Group+"/"+d.Artifact, d.Group+":"+d.Artifact, version))
		}
	}
	return nil
}

// pythonRequirement matches a library that is always installed. Its version is a range.
var pythonRequirement = regexp.MustCompile(`(?m)^Requires-Dist: ([\w.-]+)([^;\r\n]*)\r?$`)

// readPython reads the METADATA of a wheel.
func (r *requirements) readPython(data []byte) error {
	for _, match := range pythonRequirement.FindAllStringSubmatch(string(data), -1) {
		ref := r.add("pkg:pypi/"+strings.ToLower(match[1]), match[1], "")
		c := r.libraries[ref]
		c.Properties = &[]cdx.Property{{Name: "python:range", Value: strings.TrimSpace(match[2])}}
		r.libraries[ref] = c
		r.direct = append(r.direct, ref)
	}
	return nil
}

// translated matches what wasm/bindings/c/package.sh writes about the C of the module.
var translated = regexp.MustCompile(`(?s)^module\.c .* SHA-256 is\s+([0-9a-f]{64})\s.*made by wasm2c ([0-9.]+),`)

// readNotice reads where the C of the module is from. Parts of wasm2c are in it.
func (r *requirements) readNotice(data []byte) error {
	match := translated.FindStringSubmatch(string(data))
	if match == nil {
		return fmt.Errorf("it does not name the module and the version of wasm2c")
	}
	ref := r.add("pkg:github/WebAssembly/wabt", "wabt", match[2])
	c := r.libraries[ref]
	c.Licenses = &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}
	r.libraries[ref] = c
	r.direct, r.module = append(r.direct, ref), match[1]
	return nil
}

// addRequirements adds what a package needs to the bill.
func addRequirements(libraries map[string]cdx.Component, depends map[string][]string, ref string, r requirements) {
	maps.Copy(libraries, r.libraries)
	maps.Copy(depends, r.depends)
	depends[ref] = append(depends[ref], r.direct...)
}
