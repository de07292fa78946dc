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
		return true, unzipTar(f, each)
	}
	return true, eachInTar(f, func(name string, data []byte) error {
		if name != "data.tar.gz" {
			return nil
		}
		return unzipTar(bytes.NewReader(data), each)
	})
}

func hasSuffix(path string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(path, suffix) })
}

func zipContents(path string, each func(string, []byte) error) error {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer archive.Close()
	for _, f := range archive.File {
		in, err := f.Open()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close()); err != nil {
			return err
		}
		if err := each(f.Name, data); err != nil {
			return err
		}
	}
	return nil
}

func unzipTar(in io.Reader, each func(string, []byte) error) error {
	zipped, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	return eachInTar(zipped, each)
}

func eachInTar(in io.Reader, each func(string, []byte) error) error {
	for archive := tar.NewReader(in); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			return err
		}
		if err := each(header.Name, data); err != nil {
			return err
		}
	}
}
