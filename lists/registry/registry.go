// Package registry fetches packages from package registries, with the
// registries' own clients: npm, and pip for PyPI. So the mirrors, proxies and
// certificates that the clients are configured for are used, and the clients refuse an
// archive without the checksum that the registry publishes.
//
// A third registry is one more Registry value.
package registry

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Registry is a package registry.
type Registry struct {
	Name      string                             // in sources/provenance.txt
	client    []string                           // the command that saves an archive; the package follows
	into      string                             // the option for its directory
	equals    string                             // between name and version
	versionOf func(name, file string) string     // of an archive, by the name of its file
	integrity func(archive []byte) string        // its checksum in the registry's form
	unpack    func([]byte, int64) (files, error) // of at most so many bytes
}

// NPM is the npm registry. Packages are gzipped tarballs, with a SHA-512.
var NPM = &Registry{
	Name:   "npm",
	client: []string{"npm", "pack", "--loglevel=error"}, into: "--pack-destination", equals: "@",
	versionOf: func(name, file string) string {
		prefix := strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-") + "-"
		return strings.TrimPrefix(strings.TrimSuffix(file, ".tgz"), prefix)
	},
	integrity: func(archive []byte) string {
		sum := sha512.Sum512(archive)
		return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
	},
	unpack: untar,
}

// PyPI is the Python Package Index. Packages are wheels, which are zip files,
// with a SHA-256.
var PyPI = &Registry{
	Name: "pypi",
	client: []string{"python3", "-m", "pip", "--no-input", "--disable-pip-version-check", "download", "--quiet",
		"--no-deps", "--only-binary", ":all:", "--ignore-requires-python"},
	into: "--dest", equals: "==",
	versionOf: func(_, file string) string {
		return strings.SplitN(file+"--", "-", 3)[1] // name-version-tags.whl; the name has no hyphen
	},
	integrity: func(archive []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(archive)) },
	unpack:    unzip,
}

// Package is a fetched package.
type Package struct {
	Name      string
	Version   string
	Integrity string // as the registry publishes it
	Files     files
}

// files are the files of an archive by their paths in it.
type files = map[string][]byte

// Bounds of an archive. The largest in use are a tenth of them.
const (
	maxArchive  = 64 << 20  // bytes, packed
	maxUnpacked = 256 << 20 // bytes of all files
)

// Fetch downloads and unpacks a package, named as "name@version" or, in its
// newest version, "name".
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
	name := spec
	if at := strings.LastIndexByte(spec, '@'); at > 0 { // else it begins the name of a scope
		name = spec[:at]
		spec = name + r.equals + spec[at+1:]
	}
	if err := run(append(append([]string(nil), r.client...), r.into, dir, spec)...); err != nil {
		return nil, err
	}
	saved, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(saved) != 1 {
		return nil, fmt.Errorf("%s saved %d files instead of one archive", r.client[0], len(saved))
	}
	file := saved[0].Name()
	if info, err := saved[0].Info(); err != nil || info.Size() > maxArchive {
		return nil, fmt.Errorf("the archive has more than %d bytes", maxArchive)
	}
	archive, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return nil, err
	}
	p := &Package{Name: name, Version: r.versionOf(name, file), Integrity: r.integrity(archive)}
	p.Files, err = r.unpack(archive, maxUnpacked)
	return p, err
}

// Bounds of a client's run.
const (
	timeout  = 5 * time.Minute
	maxError = 4 << 10 // bytes of standard error that are quoted
)

// run runs a registry's client. The error quotes what it wrote to standard error.
func run(command ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr, cmd.WaitDelay = &stderr, 5*time.Second
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s is not installed: it fetches the packages of this registry", command[0])
	case ctx.Err() != nil:
		err = fmt.Errorf("no end after %v", timeout)
	}
	if err != nil {
		said := strings.TrimSpace(stderr.String())
		return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, said[:min(len(said), maxError)])
	}
	return nil
}

// add reads a file of an archive, of which left bytes may still be unpacked. The size in the
// file's header may be wrong.
func add(f files, path string, r io.Reader, left *int64) error {
	b, err := io.ReadAll(io.LimitReader(r, *left+1))
	if err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	*left -= int64(len(b))
	if *left < 0 {
		return errors.New("the archive unpacks to too many bytes")
	}
	f[path] = b
	return nil
}

// untar returns the regular files of a gzipped tarball of at most limit bytes.
func untar(tarball []byte, limit int64) (files, error) {
	z, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		return nil, fmt.Errorf("not a gzipped tarball: %w", err)
	}
	f, left := files{}, limit
	// Headers count too: a tarball of empty entries must end.
	for r := tar.NewReader(io.LimitReader(z, limit)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return f, nil
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			err = add(f, h.Name, r, &left)
		}
		if err != nil {
			return nil, fmt.Errorf("damaged tarball: %w", err)
		}
	}
}

// unzip returns the files of a zip file, of at most limit bytes together.
func unzip(packed []byte, limit int64) (files, error) {
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, fmt.Errorf("not a zip file: %w", err)
	}
	f, left := files{}, limit
	for _, entry := range z.File {
		if !entry.Mode().IsRegular() {
			continue
		}
		r, err := entry.Open()
		if err == nil {
			err = add(f, entry.Name, r, &left)
			r.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("damaged zip file: %w", err)
		}
	}
	return f, nil
}
