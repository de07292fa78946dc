package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageSuffix follows the platform in the name of an image's file.
const imageSuffix = ".oci.tar"

// imageConfig is how a container of the image runs: what origin/deploy/Dockerfile says too.
var imageConfig = v1.Config{
	User:    "65532:65532",
	Volumes: map[string]struct{}{"/data": {}},
	Env: []string{
		"ADDRSPEC_LISTEN=0.0.0.0:8080",
		"ADDRSPEC_OPERATOR_LISTEN=0.0.0.0:9090",
		"ADDRSPEC_DATABASE=sqlite:/data/addrspec.db",
		"ADDRSPEC_CACHE_DIR=/cache",
		"ADDRSPEC_DNS_STRICT=true",
	},
	ExposedPorts: map[string]struct{}{"8080/tcp": {}, "9090/tcp": {}},
	StopSignal:   "SIGTERM",
	Entrypoint:   []string{"/addrspec"},
	Cmd:          []string{"serve"},
}

// images writes the image of each Linux architecture as a file, and the compose file that uses it.
// The file is an OCI layout (github.com/opencontainers/image-spec, image-layout.md) with the
// manifest.json that docker load also reads. No base image is pulled.
func (r *release) images(context.Context) error {
	for _, p := range r.programs {
		if p.os != "linux" {
			continue
		}
		image, err := r.image(p)
		if err != nil {
			return err
		}
		if err := r.writeImage(p, image); err != nil {
			return err
		}
	}
	compose, err := os.ReadFile(r.path("origin/deploy/compose.yaml"))
	if err != nil {
		return err
	}
	const build = "  build:\n    context: ../..\n    dockerfile: origin/deploy/Dockerfile\n"
	text := strings.NewReplacer(build, "  image: "+r.imageName()+"\n", "cd origin/deploy && ", "", "up --build", "up").Replace(string(compose))
	return os.WriteFile(r.inOut("addrspec-"+r.version+"-compose.yaml"), []byte(text), 0o644)
}

func (r *release) imageName() string { return "addrspec:" + r.version }

func (r *release) image(p program) (v1.Image, error) {
	entries := []entry{
		{name: "etc/", mode: 0o755}, {name: "etc/ssl/", mode: 0o755}, {name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: certificates()},
		{name: "licenses/", mode: 0o755},
		{name: "data/", mode: 0o700, owner: 65532}, {name: "cache/", mode: 0o700, owner: 65532},
	}
	for _, f := range []struct {
		name, source string
		mode         int64
	}{{"addrspec", p.file, 0o755}, {"licenses/LICENSE", r.path("LICENSE"), 0o644}, {"licenses/" + licencesFile, r.inOut(licencesFile), 0o644}} {
		data, err := os.ReadFile(f.source)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{name: f.name, mode: f.mode, data: data})
	}
	var files bytes.Buffer
	if err := writeTar(&files, entries, r.time); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil })
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created, config.Config = p.os, p.arch, v1.Time{Time: r.time}, imageConfig
	config.Config.Labels = map[string]string{
		"org.opencontainers.image.version": r.programVersion(), "org.opencontainers.image.licenses": "Apache-2.0",
	}
	return mutate.ConfigFile(image, config)
}

func (r *release) writeImage(p program, image v1.Image) error {
	directory := filepath.Join(r.out, workDirectory, "image-"+p.arch)
	index := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
		Platform: &v1.Platform{OS: p.os, Architecture: p.arch},
		Annotations: map[string]string{
			"org.opencontainers.image.ref.name": r.version, "io.containerd.image.name": "docker.io/library/" + r.imageName(),
		},
	}})
	if _, err := layout.Write(directory, index); err != nil {
		return err
	}
	manifest, err := image.Manifest()
	if err != nil {
		return err
	}
	blob := func(d v1.Descriptor) string { return "blobs/" + d.Digest.Algorithm + "/" + d.Digest.Hex }
	archive := []map[string]any{{
		"Config": blob(manifest.Config), "RepoTags": []string{r.imageName()}, "Layers": []string{blob(manifest.Layers[0])},
	}}
	text, err := json.Marshal(archive)
	if err != nil {
		return err
	}
	entries := []entry{{name: "manifest.json", mode: 0o644, data: text}}
	err = filepath.WalkDir(directory, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, relErr := filepath.Rel(directory, path)
		entries = append(entries, entry{name: filepath.ToSlash(name), mode: 0o644, data: data})
		return errors.Join(err, relErr)
	})
	if err != nil {
		return err
	}
	return writeFile(r.inOut("addrspec-"+r.version+"-"+p.String()+imageSuffix), func(w io.Writer) error {
		return writeTar(w, entries, r.time)
	})
}

// certificates returns the roots for connections that the service makes, as PEM. A
// root with a constraint is left out, since PEM cannot express it.
func certificates() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a Buffer takes everything
		}
	}
	return text.Bytes()
}
