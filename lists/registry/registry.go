// Package registry fetches packages from package registries, with the
// registries' own clients: npm, and pip for PyPI. So the mirrors, proxies and
// certificates that the clients are configured for are used.
//
// A third registry is one more Registry value.
package registry

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// Registry is a package registry.
type Registry struct {
	// Name is the registry's name in sources/provenance.txt.
	Name string

	// download saves the archive of name in dir. version is "" for the newest.
	download func(dir, name, version string) (archive, error)
	// integrity returns the checksum of an archive in the registry's form.
	integrity func([]byte) string
	// unpack returns the files of an archive and when the last was written.
	unpack func(packed []byte, limit int64) (map[string][]byte, time.Time, error)
	// releases lists the versions of a package, in any order.
	releases func(name string) ([]Release, error)
}

// Registries has every registry.
var Registries = []*Registry{NPM, PyPI}

// Named returns the registry called name, or nil.
func Named(name string) *Registry {
	for _, r := range Registries {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// Package is a fetched package.
type Package struct {
	Name      string
	Version   string
	Integrity string            // as the registry publishes it
	Built     time.Time         // the newest file's date; npm sets all to 1985
	Files     map[string][]byte // by path in the archive
}

// archive is a downloaded archive and what the registry says about it.
type archive struct {
	name, version, integrity string
	path                     string // of the downloaded file
}

// Fetch downloads and unpacks a package, named as "name@version" or, in its
// newest version, "name". It returns an error if the archive does not match the
// checksum that the registry publishes.
func (r *Registry) Fetch(spec string) (*Package, error) {
	p, err := r.fetch(spec)
	if err != nil {
		return nil, fmt.Errorf("%s package %s: %w", r.Name, spec, err)
	}
	return p, nil
}

func (r *Registry) fetch(spec string) (*Package, error) {
	dir, err := os.MkdirTemp("", "registry-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name, version := SplitSpec(spec)
	got, err := r.download(dir, name, version)
	if err != nil {
		return nil, err
	}
	packed, err := readBounded(got.path)
	if err != nil {
		return nil, err
	}
	if sum := r.integrity(packed); sum != got.integrity {
		return nil, fmt.Errorf("the archive has integrity %s, the registry published %s", sum, got.integrity)
	}
	p := &Package{Name: got.name, Version: got.version, Integrity: got.integrity}
	p.Files, p.Built, err = r.unpack(packed, maxUnpacked)
	return p, err
}

// Release is one version of a package.
type Release struct {
	Version   string
	Published time.Time // zero if the registry's client does not give it
}

// Releases lists the versions of a package in the order of their numbers.
// Versions that are not numbers (pre-releases) are left out.
func (r *Registry) Releases(name string) ([]Release, error) {
	all, err := r.releases(name)
	if err != nil {
		return nil, fmt.Errorf("%s package %s: %w", r.Name, name, err)
	}
	return inOrder(all), nil
}

// SplitSpec splits "name@version" at its last @, unless that begins the name of
// a scoped npm package ("@scope/name").
func SplitSpec(spec string) (name, version string) {
	if at := strings.LastIndexByte(spec, '@'); at > 0 {
		return spec[:at], spec[at+1:]
	}
	return spec, ""
}
