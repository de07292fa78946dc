package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// container writes what `docker build - <FILE` needs: the programs for Linux, the
// certificates and a Dockerfile. Nothing is compiled and nothing is fetched, so that
// the image has the released program.
func (r *release) container(context.Context) error {
	dockerfile, err := r.dockerfile()
	if err != nil {
		return err
	}
	license, err := os.ReadFile(r.path("LICENSE"))
	if err != nil {
		return err
	}
	third, err := os.ReadFile(r.inOut(licencesFile))
	if err != nil {
		return err
	}
	entries := []entry{
		{"Dockerfile", 0o644, dockerfile},
		{"LICENSE", 0o644, license},
		{licencesFile, 0o644, third},
		{"ca-certificates.crt", 0o644, certificates()},
		{"owned/", 0o755, nil},
		{"owned/data/", 0o700, nil},
		{"owned/cache/", 0o700, nil},
	}
	programs, err := r.linuxPrograms()
	if err != nil {
		return err
	}
	return r.writeFile("addrspec-"+r.version+"-container.tar", func(w io.Writer) error {
		return writeTar(w, append(entries, programs...), r.time)
	})
}

// linuxPrograms returns the programs under the names of Docker's architectures.
func (r *release) linuxPrograms() (entries []entry, err error) {
	for _, p := range r.programs {
		if p.os != "linux" {
			continue
		}
		binary, err := os.ReadFile(p.file)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{p.arch + "/", 0o755, nil}, entry{p.arch + "/addrspec", 0o755, binary})
	}
	return entries, nil
}

// containerStart copies the files. The rest of the Dockerfile, which configures the
// image, is that of origin/deploy/Dockerfile.
const containerStart = `# addrspec in a container without a shell or any other program:
#
#   docker build -t addrspec - <addrspec-VERSION-container.tar
#   docker run -d --name addrspec -p 127.0.0.1:8080:8080 -v addrspec:/data addrspec
#
# It needs BuildKit, which sets TARGETARCH. For another architecture: --platform linux/arm64.
# ca-certificates.crt has Mozilla's roots, as golang.org/x/crypto/x509roots has them.
FROM scratch
ARG TARGETARCH
COPY ${TARGETARCH}/addrspec /addrspec
COPY LICENSE THIRD-PARTY-LICENSES.txt /licenses/
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --chown=65532:65532 owned/ /
`

// containerMark is the line of origin/deploy/Dockerfile from which the image's
// configuration is taken.
const containerMark = "# An unprivileged user"

// dockerfile returns the Dockerfile of the context.
func (r *release) dockerfile() ([]byte, error) {
	source, err := os.ReadFile(r.path("origin/deploy/Dockerfile"))
	if err != nil {
		return nil, err
	}
	_, configuration, found := strings.Cut(string(source), "\n"+containerMark)
	if !found {
		return nil, errors.New("origin/deploy/Dockerfile has no line that begins with \"" + containerMark + "\"")
	}
	return []byte(strings.ReplaceAll(containerStart, "VERSION", r.version) + containerMark + configuration), nil
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
