// Package registry fetches packages from package registries, with the
// registries' own clients: npm, and pip for PyPI. So the mirrors, proxies and
// certificates that the clients are configured for are used.
//
// A third registry is one more Registry value.
package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
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
	// unpack returns the files of an archive.
	unpack func(packed []byte, limit int64) (map[string][]byte, error)
}

// Package is a fetched package.
type Package struct {
	Name      string
	Version   string
	Integrity string            // as the registry publishes it
	Files     map[string][]byte // by path in the archive
}

// archive is a downloaded archive with its description by the registry.
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
	name, version := splitSpec(spec)
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
	p.Files, err = r.unpack(packed, maxUnpacked)
	return p, err
}

// splitSpec splits "name@version" at its last @, unless that begins the name of
// a scoped npm package ("@scope/name").
func splitSpec(spec string) (name, version string) {
	if at := strings.LastIndexByte(spec, '@'); at > 0 {
		return spec[:at], spec[at+1:]
	}
	return spec, ""
}

// Bounds of a client's run.
const (
	timeout   = 5 * time.Minute
	maxOutput = 16 << 20 // bytes of standard output
	maxError  = 4 << 10  // bytes of standard error that are quoted
)

// run runs a registry's client and returns its standard output. The error quotes
// what the client wrote to standard error.
func run(client string, args ...string) ([]byte, error) {
	if _, err := exec.LookPath(client); err != nil {
		return nil, fmt.Errorf("%s is not installed: it fetches the packages of this registry", client)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	out, stderr := &limited{max: maxOutput}, &limited{max: maxError}
	cmd := exec.CommandContext(ctx, client, args...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, stderr, 5*time.Second
	err := cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("no end after %v", timeout)
	case err == nil && out.full:
		err = fmt.Errorf("it printed more than %d bytes", maxOutput)
	}
	if err != nil {
		said := strings.TrimSpace(stderr.buffer.String())
		return nil, fmt.Errorf("%s %s: %w\n%s", client, strings.Join(args, " "), err, said)
	}
	return out.buffer.Bytes(), nil
}

// limited is a buffer that drops bytes beyond max, so that a client that
// prints without end fills no memory.
type limited struct {
	buffer bytes.Buffer // not embedded: io.Copy would use its ReadFrom, without a limit
	max    int
	full   bool
}

func (b *limited) Write(p []byte) (int, error) {
	kept := p[:min(len(p), b.max-b.buffer.Len())]
	b.full = b.full || len(kept) < len(p)
	b.buffer.Write(kept)
	return len(p), nil
}
