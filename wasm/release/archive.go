package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// entry is one file of an archive. A name that ends with a slash is a folder.
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

// sharedEntries returns what every archive has.
func (r *release) sharedEntries(ctx context.Context) (entries []entry, err error) {
	for _, file := range []string{r.path("LICENSE"), r.inOut(licencesFile)} {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{filepath.Base(file), 0o644, data})
	}
	for _, page := range manual {
		data, err := r.output(ctx, page.args...)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{page.name, 0o644, data})
	}
	return entries, nil
}

// writeArchive writes an archive in which all files are in one folder.
func (r *release) writeArchive(p platform, folder string, entries []entry) error {
	inside := make([]entry, len(entries))
	for n, e := range entries {
		inside[n] = entry{folder + "/" + e.name, e.mode, e.data}
	}
	if p.os == "windows" {
		return r.writeFile(folder+".zip", func(w io.Writer) error { return writeZip(w, inside, r.time) })
	}
	return r.writeFile(folder+".tar.gz", func(w io.Writer) error { return writeTarGz(w, inside, r.time) })
}

// writeFile writes a file of the release.
func (r *release) writeFile(name string, write func(io.Writer) error) (err error) {
	f, err := os.Create(r.inOut(name))
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	if err := write(f); err != nil {
		return fmt.Errorf("%s: %w", name, err)
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
