// Package npm fetches packages from the npm registry with the npm client.
package npm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Package is a fetched package. Its tags name the output of npm pack --json.
type Package struct {
	Name      string            `json:"name"`
	Version   string            `json:"version"`
	Integrity string            `json:"integrity"`
	Filename  string            `json:"filename"`
	Files     map[string][]byte `json:"-"` // by path in the tarball
}

// Fetch runs npm pack for spec ("name@version" or "name") and unpacks the
// tarball. It returns an error if the tarball does not match the integrity that
// npm prints.
func Fetch(spec string) (*Package, error) {
	dir, err := os.MkdirTemp("", "npm-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out, err := exec.Command("npm", "pack", spec, "--json", "--pack-destination", dir).Output()
	if err != nil {
		return nil, fmt.Errorf("npm pack %s: %w%s", spec, err, stderrOf(err))
	}
	var packs []Package
	if err := json.Unmarshal(out, &packs); err != nil || len(packs) != 1 {
		return nil, fmt.Errorf("npm pack %s: output does not describe one package: %v", spec, err)
	}
	p := &packs[0]
	tarball, err := os.ReadFile(filepath.Join(dir, filepath.Base(p.Filename)))
	if err != nil {
		return nil, err
	}
	if err := checkIntegrity(tarball, p.Integrity); err != nil {
		return nil, fmt.Errorf("%s: %w", spec, err)
	}
	p.Files, err = unpack(tarball)
	return p, err
}

// stderrOf returns what a failed command wrote to standard error.
func stderrOf(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "\n" + string(exit.Stderr)
	}
	return ""
}

// checkIntegrity returns an error unless want, a Subresource Integrity value, is
// that of tarball.
func checkIntegrity(tarball []byte, want string) error {
	sum := sha512.Sum512(tarball)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != want {
		return fmt.Errorf("tarball has integrity %s, npm printed %s", got, want)
	}
	return nil
}

// unpack returns the regular files of a gzipped tarball.
func unpack(tarball []byte) (map[string][]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag == tar.TypeReg {
			if files[h.Name], err = io.ReadAll(r); err != nil {
				return nil, err
			}
		}
	}
}
