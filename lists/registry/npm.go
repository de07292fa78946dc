package registry

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// NPM is the npm registry. Packages are gzipped tarballs, with a SHA-512.
var NPM = &Registry{
	Name:      "npm",
	download:  npmPack,
	integrity: sha512Integrity,
	unpack:    untar,
	releases:  npmReleases,
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

// npmReleases runs npm view.
func npmReleases(name string) ([]Release, error) {
	out, err := run("npm", "view", name, "time", "--json")
	if err != nil {
		return nil, err
	}
	return npmTimes(out)
}

// npmTimes reads the output of npm view NAME time --json: an object with a time
// for each version, and for "created" and "modified".
func npmTimes(out []byte) ([]Release, error) {
	var times map[string]time.Time
	if err := json.Unmarshal(out, &times); err != nil {
		return nil, fmt.Errorf("npm view printed no times: %w", err)
	}
	var all []Release
	for version, at := range times {
		all = append(all, Release{version, at})
	}
	return all, nil
}
