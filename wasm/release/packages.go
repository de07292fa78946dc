package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// moduleFiles are what wasm/build makes. The component needs Node and may be missing.
var moduleFiles = []struct {
	name     string
	optional string // why it may be missing; "" if it must be there
}{
	{name: "addrspec.wasm"},
	{name: "addrspec-plain.wasm"},
	{name: "addrspec-cli.wasm"},
	{name: "addrspec.component.wasm", optional: "it needs Node and npm"},
}

// modules copies the built modules. They are older than the sources if somebody runs
// this command without ./build.sh, which is why a difference from the embedded one is
// an error.
func (r *release) modules(context.Context) error {
	for _, m := range moduleFiles {
		wasm, err := os.ReadFile(r.path("dist/" + m.name))
		if errors.Is(err, os.ErrNotExist) && m.optional != "" {
			r.skip(m.name + ": " + m.optional)
			continue
		}
		if err != nil {
			return fmt.Errorf("%w; ./build.sh release builds the modules first", err)
		}
		if m.name == "addrspec.wasm" {
			embedded, err := os.ReadFile(r.path(embeddedModule))
			if err != nil {
				return err
			}
			if !bytes.Equal(wasm, embedded) {
				return errors.New(embeddedModule + " is not dist/addrspec.wasm: run ./build.sh release")
			}
		}
		if err := os.WriteFile(r.inOut(m.name), wasm, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// exitSkipped is the exit code of a package.sh that lacks a tool.
const exitSkipped = 3

// packages runs the package.sh of each language, which makes its package in the release's
// directory. A script that lacks a tool says so in its last line; the release then lacks
// that package and says so at its end.
func (r *release) packages(ctx context.Context) error {
	var scripts []string
	for _, pattern := range []string{"edge/package.sh", "wasm/bindings/*/package.sh", "wasm/bindings/*/*/package.sh"} {
		found, err := filepath.Glob(r.path(pattern))
		if err != nil {
			return err
		}
		scripts = append(scripts, found...)
	}
	slices.Sort(scripts)
	for _, script := range scripts {
		name := strings.TrimPrefix(script, r.root+string(filepath.Separator))
		env := []string{"SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.time.Unix(), 10)}
		out, err := execute(ctx, r.root, env, "sh", script, r.out)
		if code := new(exec.ExitError); errors.As(err, &code) && code.ExitCode() == exitSkipped {
			text := strings.TrimSpace(out)
			why := text[strings.LastIndexByte(text, '\n')+1:]
			r.skip(name + ": " + strings.TrimPrefix(why, "skipped: "))
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, out)
		}
		fmt.Fprintf(r.log, "   %s\n", name)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// maxContent is the largest file that is read from a package, and maxFiles how many
// files a package may have. The packages are our own; the limits stop a mistake.
const (
	maxContent = 256 << 20
	maxFiles   = 10_000
)

// contents calls each with the files of a package: a wheel or jar, which are zip files, a
// gem, which is a tar file in which data.tar.gz has the files, or a compressed tar file of
// npm, cargo or another. It reports whether the file is one of these.
func contents(path string, each func(name string, data []byte) error) (bool, error) {
	if hasSuffix(path, ".whl", ".jar", ".zip") {
		return true, zipContents(path, each)
	}
	gem := hasSuffix(path, ".gem")
	if !gem && !hasSuffix(path, ".tgz", ".crate", ".tar.gz") {
		return false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return true, err
	}
	defer f.Close()
	if !gem {
		return true, unzipTar(f, path, each)
	}
	return true, eachInTar(f, path, func(name string, data []byte) error {
		if name != "data.tar.gz" {
			return nil
		}
		return unzipTar(bytes.NewReader(data), path, each)
	})
}

func hasSuffix(path string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(path, suffix) {
			return true
		}
	}
	return false
}

func zipContents(path string, each func(string, []byte) error) error {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer archive.Close()
	if len(archive.File) > maxFiles {
		return fmt.Errorf("%s has more than %d files", path, maxFiles)
	}
	for _, f := range archive.File {
		in, err := f.Open()
		if err != nil {
			return err
		}
		err = readContent(in, f.Name, each)
		if err := errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return nil
}

func unzipTar(in io.Reader, path string, each func(string, []byte) error) error {
	zipped, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	return eachInTar(zipped, path, each)
}

func eachInTar(in io.Reader, path string, each func(string, []byte) error) error {
	archive := tar.NewReader(in)
	for range maxFiles {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := readContent(archive, header.Name, each); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s has more than %d files", path, maxFiles)
}

func readContent(in io.Reader, name string, each func(string, []byte) error) error {
	data, err := io.ReadAll(io.LimitReader(in, maxContent+1))
	if err != nil {
		return err
	}
	if len(data) > maxContent {
		return fmt.Errorf("%s is larger than %d bytes", name, maxContent)
	}
	return each(name, data)
}
