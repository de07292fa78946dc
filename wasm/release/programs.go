package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
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
	name  string
	mode  int64
	data  []byte
	owner int // the number of its user and group
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
		entries := []entry{{name: p.platform.name(), mode: 0o755, data: binary}}
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
		entries = append(entries, entry{name: filepath.Base(file), mode: 0o644, data: data})
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
		entries = append(entries, entry{name: page.name, mode: 0o644, data: []byte(text)})
	}
	return entries, nil
}

// writeArchive writes an archive in which all files are in one directory.
func (r *release) writeArchive(p platform, directory string, entries []entry) error {
	inside := make([]entry, len(entries))
	for n, e := range entries {
		inside[n] = entry{name: directory + "/" + e.name, mode: e.mode, data: e.data}
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

// writeTar writes entries that have one time, so that the bytes
// depend on nothing else of the machine.
func writeTar(w io.Writer, entries []entry, modified time.Time) error {
	archive := tar.NewWriter(w)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.data)), Uid: e.owner, Gid: e.owner,
			ModTime: modified, Format: tar.FormatUSTAR}
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
