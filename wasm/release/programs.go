package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// platform is an operating system and an architecture, by their Go names.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "-" + p.arch }

// platforms are those that the program is built for.
var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// program is the built program of one platform.
type program struct {
	platform
	file string
}

// name returns the file name that users run.
func (p platform) name() string {
	if p.os == "windows" {
		return "addrspec.exe"
	}
	return "addrspec"
}

// workDirectory is removed before the sums are written.
const workDirectory = ".work"

// binaries compiles the program for every platform, outside the release: archives
// packs what users get. The flags are those of build.sh, and the settings that
// change the code do not come from the user's environment.
func (r *release) binaries(ctx context.Context) error {
	ldflags := "-ldflags=-s -w -buildid= -X " + goModule + "/origin/service.Release=" + r.programVersion()
	for _, p := range platforms {
		fmt.Fprintf(r.log, "   compiling for %s\n", p)
		file := filepath.Join(r.out, workDirectory, p.String(), p.name())
		env := []string{"CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOWORK=off",
			"GOOS=" + p.os, "GOARCH=" + p.arch}
		_, err := execute(ctx, r.root, env, "go", "build", "-trimpath", "-buildvcs=false", ldflags, "-o", file, "./origin")
		if err != nil {
			return err
		}
		r.programs = append(r.programs, program{p, file})
	}
	return nil
}

// programVersion returns what `addrspec --version` prints: the version and, after a
// plus (semver.org, 10), the commit.
func (r *release) programVersion() string { return r.version + "+" + r.label() }

// entry is one file of an archive. A name that ends with a slash is a directory.
type entry struct {
	name string
	mode int64
	data []byte
}

// manual are the man page and the completion of the shells: the name in the archive,
// and the command of the program that prints it.
var manual = []struct {
	name string
	args []string
}{
	{"addrspec.1", []string{"man"}},
	{"completion/addrspec.bash", []string{"completion", "bash"}},
	{"completion/_addrspec", []string{"completion", "zsh"}},
	{"completion/addrspec.fish", []string{"completion", "fish"}},
}

// archives packs the program of each platform with its licences, man page and
// completion: a zip file for Windows, a compressed tar file for the others.
func (r *release) archives(ctx context.Context) error {
	shared, err := r.sharedEntries(ctx)
	if err != nil {
		return err
	}
	for _, p := range r.programs {
		binary, err := os.ReadFile(p.file)
		if err != nil {
			return err
		}
		name := "addrspec-" + r.version + "-" + p.String()
		entries := []entry{{p.platform.name(), 0o755, binary}}
		if err := r.writeArchive(p.platform, name, append(entries, shared...)); err != nil {
			return err
		}
	}
	return nil
}

// sharedEntries returns what every archive has. The man page and the completion come from
// the program of this machine.
func (r *release) sharedEntries(ctx context.Context) (entries []entry, err error) {
	for _, file := range []string{r.path("LICENSE"), r.inOut(licencesFile)} {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{filepath.Base(file), 0o644, data})
	}
	here := slices.IndexFunc(r.programs, func(p program) bool { return p.os == runtime.GOOS && p.arch == runtime.GOARCH })
	if here < 0 {
		return nil, fmt.Errorf("no program was built for this machine, %s/%s, and its man page comes from running it: build on one of the platforms of the release", runtime.GOOS, runtime.GOARCH)
	}
	for _, page := range manual {
		text, err := execute(ctx, r.root, nil, r.programs[here].file, page.args...)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{page.name, 0o644, []byte(text)})
	}
	return entries, nil
}

// writeArchive writes an archive in which all files are in one directory.
func (r *release) writeArchive(p platform, directory string, entries []entry) error {
	inside := make([]entry, len(entries))
	for n, e := range entries {
		inside[n] = entry{directory + "/" + e.name, e.mode, e.data}
	}
	if p.os == "windows" {
		return writeFile(r.inOut(directory+".zip"), func(w io.Writer) error { return writeZip(w, inside, r.time) })
	}
	return writeFile(r.inOut(directory+".tar.gz"), func(w io.Writer) error { return writeTarGz(w, inside, r.time) })
}

// writeFile writes a file.
func writeFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := write(f); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return nil
}

func writeTarGz(w io.Writer, entries []entry, modified time.Time) error {
	zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression) // its header has no time and no name
	if err != nil {
		return err
	}
	if err := writeTar(zipped, entries, modified); err != nil {
		return err
	}
	return zipped.Close()
}

// writeTar writes entries that belong to user 0 and have one time, so that the bytes
// depend on nothing else of the machine.
func writeTar(w io.Writer, entries []entry, modified time.Time) error {
	archive := tar.NewWriter(w)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: modified, Format: tar.FormatUSTAR}
		header.Typeflag = tar.TypeReg
		if strings.HasSuffix(e.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(e.data); err != nil {
			return err
		}
	}
	return archive.Close()
}

func writeZip(w io.Writer, entries []entry, modified time.Time) error {
	archive := zip.NewWriter(w)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: modified.UTC()}
		header.SetMode(os.FileMode(e.mode))
		f, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := f.Write(e.data); err != nil {
			return err
		}
	}
	return archive.Close()
}

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
	return writeFile(r.inOut("addrspec-"+r.version+"-container.tar"), func(w io.Writer) error {
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
