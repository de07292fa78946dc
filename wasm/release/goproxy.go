package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/addrspec/addrspec/core"
)

// embeddedModule is what the Go module has besides the files of the commit. git does
// not have it: it is built, has 3 MB and changes often.
const embeddedModule = "wasm/module/addrspec.wasm"

// goModule is the module path, and goVersion its version as Go writes it.
const goModule = "github.com/addrspec/addrspec"

func goVersion(version string) string { return "v" + version }

func goproxyCommand(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		return usageError{errors.New("goproxy needs one folder")}
	}
	t, err := openTree(ctx)
	if err != nil {
		return err
	}
	folder, err := t.writeProxy(ctx, args[0], core.Version)
	if err == nil {
		fmt.Fprintln(out, folder)
	}
	return err
}

// writeProxy writes the Go module as the file tree that a module proxy serves
// (go.dev/ref/mod#goproxy-protocol) into dir/goproxy, and returns that folder.
func (t *tree) writeProxy(ctx context.Context, dir, version string) (string, error) {
	folder := filepath.Join(dir, "goproxy")
	versions := filepath.Join(folder, filepath.FromSlash(goModule), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return "", err
	}
	manifest, err := os.ReadFile(t.path("go.mod"))
	if err != nil {
		return "", err
	}
	info, err := json.Marshal(struct{ Version, Time string }{goVersion(version), t.time.Format(time.RFC3339)})
	if err != nil {
		return "", err
	}
	file := func(suffix string) string { return filepath.Join(versions, goVersion(version)+suffix) }
	return folder, errors.Join(
		os.WriteFile(filepath.Join(versions, "list"), []byte(goVersion(version)+"\n"), 0o644),
		os.WriteFile(file(".info"), info, 0o644),
		os.WriteFile(file(".mod"), manifest, 0o644),
		t.writeModuleZip(ctx, file(".zip"), version))
}

// writeModuleZip writes the zip file of the Go module: the files of the commit and the
// built module. golang.org/x/mod/zip (BSD-3-Clause) is what the go command itself
// uses; it leaves out nested modules.
func (t *tree) writeModuleZip(ctx context.Context, path, version string) (err error) {
	names, err := t.files(ctx)
	if err != nil {
		return err
	}
	if !exists(t.path(embeddedModule)) {
		return fmt.Errorf("%s is missing: run ./build.sh first", embeddedModule)
	}
	var files []zip.File
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(names, embeddedModule)))) {
		files = append(files, treeFile{t, name})
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return zip.Create(f, module.Version{Path: goModule, Version: goVersion(version)}, files)
}

// treeFile is a file of the tree for package zip.
type treeFile struct {
	*tree
	name string
}

func (f treeFile) Path() string                 { return f.name }
func (f treeFile) Lstat() (os.FileInfo, error)  { return os.Lstat(f.path(f.name)) }
func (f treeFile) Open() (io.ReadCloser, error) { return os.Open(f.path(f.name)) }
