package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/tables"
	"github.com/stretchr/testify/require"
)

// npmPackages is a directory with the packages that a fake command npm knows: the
// tarball of each specification, with the name of its version.
type npmPackages string

// fakeNPM puts a command npm on the PATH that knows the packages of publish.
func fakeNPM(t *testing.T) npmPackages {
	bin, packages := t.TempDir(), t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
cd %s
[ -f "$5.tgz" ] || { echo "E404 $5" >&2; exit 1; }
cp "$5.tgz" "$4/$(cat "$5.name")"
`, packages)
	require.NoError(t, os.WriteFile(filepath.Join(bin, "npm"), []byte(script), 0o755))
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	return npmPackages(packages)
}

// publish adds a package of one file as the newest version.
func (n npmPackages) publish(t *testing.T, name, version, path, content string) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: path, Size: int64(len(content)), Mode: 0o644}))
	_, err := w.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	for _, spec := range []string{name, name + "@" + version} {
		at := filepath.Join(string(n), spec)
		require.NoError(t, os.WriteFile(at+".tgz", b.Bytes(), 0o644))
		require.NoError(t, os.WriteFile(at+".name", []byte(name+"-"+version+".tgz"), 0o644))
	}
}

// fakeSources are three of the real sources, with packages of npm.
func fakeSources(t *testing.T, npm npmPackages) (sources []source) {
	for _, s := range published {
		if strings.ContainsRune("KIB", rune(s.letter)) {
			sources = append(sources, s)
		}
	}
	npm.publish(t, "fakefilter", "0.1.1", "package/json/data.json", `{"domains":{"a.example":{}}}`)
	npm.publish(t, "disposable-email-domains", "1.0.1", "package/index.json", `["a.example","b.example"]`)
	npm.publish(t, "burner-email-providers", "1.0.1", "package/emails.txt", "c.example\n")
	return sources
}

// sourcesDir returns a directory with an empty directory sources, and what its files
// are after a refresh.
func sourcesDir(t *testing.T) (dir string, files func() string) {
	dir = t.TempDir()
	sources := filepath.Join(dir, "sources")
	require.NoError(t, os.Mkdir(sources, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(sources, "provenance.txt"), []byte("checked 2026-11-20\n"), 0o644))
	return dir, func() (all string) {
		entries, err := os.ReadDir(sources)
		require.NoError(t, err)
		for _, e := range entries {
			b, err := os.ReadFile(filepath.Join(sources, e.Name()))
			require.NoError(t, err)
			all += e.Name() + ":\n" + string(b)
		}
		return all
	}
}

func refresh(t *testing.T, sources []source, dir string, latest bool) error {
	f, err := refresher{Dir: dir, Latest: latest}.gather(sources)
	if err != nil {
		return err
	}
	return f.write(dir)
}

func TestRefresh(t *testing.T) {
	npm := fakeNPM(t)
	sources := fakeSources(t, npm)
	dir, files := sourcesDir(t)
	require.NoError(t, refresh(t, sources, dir, true))
	first := files()
	require.Contains(t, first, "a.example KI\n")
	require.Contains(t, first, "checked "+today()+"\n")
	require.Contains(t, first, "I npm:disposable-email-domains@1.0.1 MIT "+today()+" 2 sha512-")

	// A later refresh without --latest changes nothing, with it the day it was checked.
	older := strings.ReplaceAll(first[strings.Index(first, "provenance.txt:\n")+16:], today(), "2026-11-20")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sources", "provenance.txt"), []byte(older), 0o644))
	require.NoError(t, refresh(t, sources, dir, false))
	require.Contains(t, files(), older)
	require.NoError(t, refresh(t, sources, dir, true))
	require.Contains(t, files(), strings.Replace(older, "checked 2026-11-20", "checked "+today(), 1))

	// A new version gets the day on which it was fetched.
	npm.publish(t, "disposable-email-domains", "1.0.2", "package/index.json", `["a.example"]`)
	require.NoError(t, refresh(t, sources, dir, true))
	require.Contains(t, files(), "I npm:disposable-email-domains@1.0.2 MIT "+today()+" 1 sha512-")
}

// TestRefreshObserved: a list of observed domains adds to what was observed before, and a
// refresh without one keeps it.
func TestRefreshObserved(t *testing.T) {
	sources := fakeSources(t, fakeNPM(t))
	dir, files := sourcesDir(t)
	const known = "burner.example 2026-01-01\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sources", "observed.txt"), []byte(known), 0o644))
	list := "a.example\nburner.example\nco.uk\n"
	for n := range 200 {
		list += fmt.Sprintf("burner%d.example\n", n)
	}
	from := filepath.Join(t.TempDir(), "disposable-email-domains.txt")
	require.NoError(t, os.WriteFile(from, []byte(list), 0o644))
	f, err := refresher{Dir: dir, Latest: true, Observed: from}.gather(sources)
	require.NoError(t, err)
	require.Equal(t, []string{"co.uk is a public suffix"}, f.skipped)
	require.NoError(t, f.write(dir))
	require.Contains(t, files(), "burner.example 2026-01-01 "+today()+"\n")
	require.Contains(t, files(), "a.example KI\n", "only registries are in domains.txt")
	require.Contains(t, files(), "C github:castle/disposable-email-domains@"+today()+" MIT "+today()+" 202 sha256:")
	before := files()
	require.NoError(t, refresh(t, sources, dir, false))
	require.Equal(t, before, files())

	require.NoError(t, os.WriteFile(from, []byte(list[:len(list)/2]), 0o644))
	_, err = refresher{Dir: dir, Latest: true, Observed: from}.gather(sources)
	require.ErrorContains(t, err, "source C: the list of observed domains at "+from)
}

// TestRefreshFails checks that a failure names the source and writes nothing.
func TestRefreshFails(t *testing.T) {
	npm := fakeNPM(t)
	sources := fakeSources(t, npm)
	dir, files := sourcesDir(t)
	require.NoError(t, refresh(t, sources, dir, true))
	before := files()

	npm.publish(t, "disposable-email-domains", "1.0.1", "package/index.json", `["other.example"]`)
	require.ErrorContains(t, refresh(t, sources, dir, false), "source I: disposable-email-domains@1.0.1: integrity is sha512-")
	npm.publish(t, "disposable-email-domains", "1.0.2", "package/list.json", `["other.example"]`)
	require.ErrorContains(t, refresh(t, sources, dir, true),
		"source I: disposable-email-domains@1.0.2 has no file package/index.json: has the package changed?")
	require.NoError(t, os.Remove(filepath.Join(string(npm), "disposable-email-domains.tgz")))
	err := refresh(t, sources, dir, true)
	require.ErrorContains(t, err, "source I: npm package disposable-email-domains: npm pack --loglevel=error")
	require.ErrorContains(t, err, "E404 disposable-email-domains")
	t.Setenv("PATH", t.TempDir())
	require.ErrorContains(t, refresh(t, published, dir, true),
		"source D: pypi package disposable-email-domains: python3 is not installed")
	require.Equal(t, before, files())
}

func TestReport(t *testing.T) {
	before := tables.Map{
		"kept.example":  {Class: lists.Disposable, Subdomains: true},
		"gone.example":  {Class: lists.Public},
		"real.example":  {Class: lists.Public},
		"other.example": {Class: lists.Relay},
	}
	after := tables.Map{
		"kept.example":     {Class: lists.Disposable, Subdomains: true},
		"sub.kept.example": {Class: lists.Disposable, Subdomains: true}, // not reported: its parent covered it
		"real.example":     {Class: lists.Disposable, Subdomains: true},
		"other.example":    {Class: lists.Relay},
		"brand-new.exam":   {Class: lists.Disposable, Subdomains: true},
		"abcd.skin":        {Class: lists.Disposable, Subdomains: true}, // short, but such names are cheap
		"abc.com":          {Class: lists.Disposable, Subdomains: true},
	}
	var out bytes.Buffer
	report(&out, before, after, nil, false)
	require.Equal(t, `public -> disposable: 1
	real.example
public -> unlisted: 1
	gone.example
unlisted -> disposable: 3
	abc.com
	abcd.skin
	brand-new.exam
newly disposable, check each (add those that are wrong to allow.txt): 2
	abc.com
	real.example
4 entries before, 7 after
`, out.String())
}

func TestReportShortensLongGroups(t *testing.T) {
	after := tables.Map{}
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		after[string(c)+"-long-name.example"] = tables.Entry{Class: lists.Disposable}
	}
	var out bytes.Buffer
	report(&out, tables.Map{}, after, nil, false)
	require.Contains(t, out.String(), "\tt-long-name.example\n\t... and 6 more (--all shows them)\n")
}
