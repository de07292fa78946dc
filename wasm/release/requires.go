package main

import (
	"encoding/xml"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// packageFile is a package of a language while its files are read into the bill.
type packageFile struct {
	*bill
	ref    string
	module string // the SHA-256 of the module in it, also of one that was translated to C
}

// packageManifests are the files of packages that name libraries, by the end of their path: those that the package
// contains or that a package manager installs with it.
var packageManifests = []struct {
	end  string
	read func(*packageFile, []byte) error
}{
	{"/Cargo.lock", (*packageFile).readCargo},
	{"META-INF/maven/io.github.addrspec/*/pom.xml", (*packageFile).readMaven},
	{".dist-info/METADATA", (*packageFile).readPython},
	{"/module/NOTICE", (*packageFile).readNotice},
}

// readManifest reads a file of the package if it is one of the manifests.
func (p *packageFile) readManifest(name string, data []byte) error {
	for _, m := range packageManifests {
		if matched, _ := path.Match(m.end, name); !matched && !strings.HasSuffix("/"+name, m.end) {
			continue
		}
		if err := m.read(p, data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// cargoField matches a line of a package in Cargo.lock: a name and a text, or a dependency.
var cargoField = regexp.MustCompile(`(?m)^(?:(\w+) = )? ?"([^"]*)",?$`)

// readCargo reads Cargo.lock, which cargo writes: a section for each crate. It has what all features of ours need.
func (p *packageFile) readCargo(data []byte) error {
	type crate struct {
		ref, name string
		needs     []string
	}
	var crates []crate
	refs := map[string]string{} // by name, and by name and version
	for n, section := range strings.Split(string(data), "[[package]]\n")[1:] {
		fields, needs := map[string]string{}, []string(nil)
		for _, match := range cargoField.FindAllStringSubmatch(section, -1) {
			if match[1] == "" {
				needs = append(needs, match[2])
			}
			fields[match[1]] = match[2]
		}
		name, version, checksum := fields["name"], fields["version"], fields["checksum"]
		if name == "" || version == "" {
			return fmt.Errorf("package %d has no name or no version", n)
		}
		ref := p.ref
		if checksum != "" { // else it is the crate itself
			c := library("pkg:cargo/"+name, name, version)
			c.Hashes = hashes(checksum)
			ref = c.BOMRef
			p.components[ref] = c
			refs[name], refs[name+" "+version] = ref, ref
		}
		crates = append(crates, crate{ref, name, needs})
	}
	for _, c := range crates {
		for _, name := range c.needs {
			ref, ok := refs[name]
			if !ok {
				return fmt.Errorf("%s needs %s, which the file does not have", c.name, name)
			}
			p.depends[c.ref] = append(p.depends[c.ref], ref)
		}
	}
	return nil
}

// readMaven reads the pom.xml in a jar. What has a scope is there already, or for tests.
func (p *packageFile) readMaven(data []byte) error {
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
	for _, property := range pom.Properties.All {
		properties = append(properties, "${"+property.XMLName.Local+"}", property.Text)
	}
	for _, d := range pom.Dependencies {
		if d.Scope == "" {
			version := strings.NewReplacer(properties...).Replace(d.Version)
			p.add(p.ref, library("pkg:maven/"+d.Group+"/"+d.Artifact, d.Group+":"+d.Artifact, version))
		}
	}
	return nil
}

// pythonRequirement matches a library that is always installed. Its version is a range.
var pythonRequirement = regexp.MustCompile(`(?m)^Requires-Dist: ([\w.-]+)([^;\r\n]*)\r?$`)

// readPython reads the METADATA of a wheel.
func (p *packageFile) readPython(data []byte) error {
	for _, match := range pythonRequirement.FindAllStringSubmatch(string(data), -1) {
		c := library("pkg:pypi/"+strings.ToLower(match[1]), match[1], "")
		c.Properties = property("python:range", strings.TrimSpace(match[2]))
		p.add(p.ref, c)
	}
	return nil
}

// translated matches what wasm/bindings/c/package.sh writes about the C of the module.
var translated = regexp.MustCompile(`(?s)^module\.c .* SHA-256 is\s+([0-9a-f]{64})\s.*made by wasm2c ([0-9.]+),`)

// readNotice reads where the C of the module is from. Parts of wasm2c are in it.
func (p *packageFile) readNotice(data []byte) error {
	match := translated.FindStringSubmatch(string(data))
	if match == nil {
		return fmt.Errorf("it does not name the module and the version of wasm2c")
	}
	c := library("pkg:github/WebAssembly/wabt", "wabt", match[2])
	c.Licenses = licensed("Apache-2.0")
	p.add(p.ref, c)
	p.module = match[1]
	return nil
}
