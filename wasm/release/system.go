package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// systemFiles are the places of the files that every archive has, as Debian and Fedora know them.
var systemFiles = map[string]string{
	"LICENSE":                  "/usr/share/doc/addrspec/copyright",
	licencesFile:               "/usr/share/doc/addrspec/" + licencesFile,
	"addrspec.1":               "/usr/share/man/man1/addrspec.1.gz",
	"completion/addrspec.bash": "/usr/share/bash-completion/completions/addrspec",
	"completion/addrspec.fish": "/usr/share/fish/vendor_completions.d/addrspec.fish",
}

// zshFunctions is where zsh looks for completions.
var zshFunctions = map[string]string{"deb": "/usr/share/zsh/vendor-completions/_addrspec", "rpm": "/usr/share/zsh/site-functions/_addrspec"}

var systemUnits = []string{"addrspec.service", "addrspec-backup.service", "addrspec-backup.timer"}

// system writes the packages of the program for the package managers of Linux, deb and rpm, by
// the library of nfpm (MIT).
func (r *release) system(ctx context.Context) error {
	shared, err := r.sharedEntries(ctx)
	if err != nil {
		return err
	}
	for _, p := range r.programs {
		if p.os != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm"} {
			contents, err := r.systemContents(p, format, shared)
			if err != nil {
				return err
			}
			if err := r.writeSystemPackage(p, format, contents); err != nil {
				return err
			}
		}
	}
	return nil
}

// systemContents returns the files of a package, whose sources are in the work directory.
func (r *release) systemContents(p program, format string, shared []entry) (contents files.Contents, err error) {
	add := func(source, destination, kind string, mode os.FileMode) {
		contents = append(contents, &files.Content{Source: source, Destination: destination, Type: kind,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.time}})
	}
	write := func(destination string, data []byte) error {
		source := filepath.Join(r.out, workDirectory, format+"-"+p.arch, destination)
		if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
			return err
		}
		add(source, destination, files.TypeFile, 0o644)
		return os.WriteFile(source, data, 0o644)
	}
	add(p.file, "/usr/bin/addrspec", files.TypeFile, 0o755)
	add(r.path("wasm/release/system/environment"), "/etc/addrspec.env", files.TypeConfigNoReplace, 0o600)
	for _, e := range shared {
		destination, data := systemFiles[e.name], e.data
		if destination == "" {
			destination = zshFunctions[format]
		}
		if path.Ext(destination) == ".gz" {
			var zipped bytes.Buffer
			w := gzip.NewWriter(&zipped) // its header has no time and no name
			_, _ = w.Write(data)         // a Buffer takes everything
			_ = w.Close()
			data = zipped.Bytes()
		}
		if err := write(destination, data); err != nil {
			return nil, err
		}
	}
	for _, unit := range systemUnits {
		text, err := os.ReadFile(r.path("origin/deploy/" + unit))
		if err != nil {
			return nil, err
		}
		text = bytes.ReplaceAll(text, []byte("/usr/local/bin/"), []byte("/usr/bin/"))
		if err := write("/usr/lib/systemd/system/"+unit, text); err != nil {
			return nil, err
		}
	}
	return contents, nil
}

// writeSystemPackage writes a package. It starts nothing; its scripts say what is next.
func (r *release) writeSystemPackage(p program, format string, contents files.Contents) error {
	script := func(name string) string { return r.path("wasm/release/system/" + name + ".sh") }
	info := &nfpm.Info{
		Name: "addrspec", Arch: p.arch, Platform: p.os, Version: r.version, Release: "1", MTime: r.time,
		Maintainer: "The addrspec authors <addrspec@addrspec.invalid>", Vendor: "The addrspec authors",
		Homepage: "https://" + goModule, License: "Apache-2.0", Section: "net", Priority: "optional",
		Description:     "Facts about email addresses, as a service and on the command line",
		DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Contents:   contents,
			Recommends: []string{"ca-certificates"}, // of PostgreSQL, a feed of lists, webhooks
			Scripts:    nfpm.Scripts{PostInstall: script("postinstall"), PreRemove: script("preremove"), PostRemove: script("postremove")},
			RPM:        nfpm.RPM{BuildHost: "addrspec"},
		},
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	name := "addrspec_" + r.version + "_" + p.arch + "." + format
	return writeFile(r.inOut(name), func(w io.Writer) error { return packager.Package(info, w) })
}
