package registry

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// NPM is the npm registry. Packages are gzipped tarballs, with a SHA-512.
var NPM = &Registry{
	Name:      "npm",
	download:  npmPack,
	integrity: sha512Integrity,
	unpack:    untar,
}

// npmPack runs npm pack, which downloads a package's tarball.
func npmPack(dir, name, version string) (archive, error) {
	spec := name
	if version != "" {
		spec += "@" + version
	}
	out, err := run("npm", "pack", spec, "--json", "--pack-destination", dir)
	if err != nil {
		return archive{}, err
	}
	return npmArchive(out, dir)
}

// npmArchive reads the output of npm pack --json.
func npmArchive(out []byte, dir string) (archive, error) {
	var packs []struct{ Name, Version, Integrity, Filename string }
	if err := json.Unmarshal(out, &packs); err != nil {
		return archive{}, fmt.Errorf("npm pack printed no JSON: %w", err)
	}
	if len(packs) != 1 || packs[0].Integrity == "" || packs[0].Filename == "" {
		return archive{}, errors.New("npm pack did not describe one package with its integrity")
	}
	p := packs[0]
	return archive{p.Name, p.Version, p.Integrity, filepath.Join(dir, filepath.Base(p.Filename))}, nil
}

// sha512Integrity returns a Subresource Integrity value, as npm has it.
func sha512Integrity(b []byte) string {
	sum := sha512.Sum512(b)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// PyPI is the Python Package Index. Packages are wheels, which are zip files,
// with a SHA-256.
var PyPI = &Registry{
	Name:      "pypi",
	download:  pipDownload,
	integrity: sha256Integrity,
	unpack:    unzip,
}

// pipDownload downloads a package's wheel. pip prints the checksum of the index
// only in the report of an installation, so it runs one that installs nothing.
func pipDownload(dir, name, version string) (archive, error) {
	spec := name
	if version != "" {
		spec += "==" + version
	}
	wheel := []string{"--no-deps", "--only-binary", ":all:", "--ignore-requires-python", "--quiet", spec}
	out, err := pip(append([]string{"install", "--dry-run", "--ignore-installed", "--report", "-"}, wheel...)...)
	if err != nil {
		return archive{}, err
	}
	a, err := pipReport(out)
	if err != nil {
		return a, err
	}
	wheel[len(wheel)-1] = a.name + "==" + a.version
	if _, err = pip(append([]string{"download", "--dest", dir}, wheel...)...); err != nil {
		return a, err
	}
	a.path, err = onlyFile(dir)
	return a, err
}

// pip runs pip without questions and without a lookup of its own newest version.
func pip(args ...string) ([]byte, error) {
	return run("python3", append([]string{"-m", "pip", "--no-input", "--disable-pip-version-check"}, args...)...)
}

// pipReport reads the output of pip install --report.
func pipReport(out []byte) (archive, error) {
	var report struct {
		Install []struct {
			Metadata struct{ Name, Version string }
			Download struct {
				Archive struct{ Hashes map[string]string } `json:"archive_info"`
			} `json:"download_info"`
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return archive{}, fmt.Errorf("pip printed no report (pip 22.2 or newer is needed): %w", err)
	}
	if len(report.Install) != 1 || report.Install[0].Download.Archive.Hashes["sha256"] == "" {
		return archive{}, errors.New("pip did not report one package with its sha256")
	}
	p := report.Install[0]
	return archive{name: p.Metadata.Name, version: p.Metadata.Version,
		integrity: "sha256:" + strings.ToLower(p.Download.Archive.Hashes["sha256"])}, nil
}

// onlyFile returns the path of the only file in dir.
func onlyFile(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(entries) != 1 {
		return "", fmt.Errorf("pip downloaded %d files instead of one wheel", len(entries))
	}
	return filepath.Join(dir, entries[0].Name()), nil
}

// sha256Integrity returns a checksum as pip's --hash takes it.
func sha256Integrity(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
