package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/published"
	"github.com/addrspec/addrspec/lists/internal/tables"
	"github.com/stretchr/testify/require"
)

// fakeNPM puts a command npm on the PATH that knows the packages in the folder
// it returns: NAME.tgz and NAME.json, which is what npm pack --json prints.
func fakeNPM(t *testing.T) string {
	bin, packages := t.TempDir(), t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
name=${2%%%%@*}
[ -f %[1]s/$name.tgz ] || { echo "E404 $name" >&2; exit 1; }
cp %[1]s/$name.tgz "$5" && cat %[1]s/$name.json
`, packages)
	require.NoError(t, os.WriteFile(filepath.Join(bin, "npm"), []byte(script), 0o755))
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	return packages
}

// publish adds a package of one file to the registry of fakeNPM.
func publish(t *testing.T, packages, name, version, path, content string) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: path, Size: int64(len(content)), Mode: 0o644}))
	_, err := w.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	sum := sha512.Sum512(b.Bytes())
	printed, err := json.Marshal([]map[string]string{{"name": name, "version": version, "filename": name + ".tgz",
		"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(packages, name+".tgz"), b.Bytes(), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(packages, name+".json"), printed, 0o644))
}

// fakeSources are three of the real sources, with the packages of fakeNPM.
func fakeSources(t *testing.T, packages string) (sources []published.Source) {
	for _, s := range published.Sources {
		if strings.ContainsRune("KIB", rune(s.Letter)) {
			sources = append(sources, s)
		}
	}
	publish(t, packages, "fakefilter", "0.1.1", "package/json/data.json", `{"domains":{"a.example":{}}}`)
	publish(t, packages, "disposable-email-domains", "1.0.1", "package/index.json", `["a.example","b.example"]`)
	publish(t, packages, "burner-email-providers", "1.0.1", "package/emails.txt", "c.example\n")
	return sources
}

// sourcesDir returns a folder with an empty folder sources, and what its files
// are after a refresh.
func sourcesDir(t *testing.T) (dir string, files func() string) {
	dir = t.TempDir()
	folder := filepath.Join(dir, "sources")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "provenance.txt"), []byte("checked 2026-11-20\n"), 0o644))
	return dir, func() (all string) {
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
		for _, e := range entries {
			b, err := os.ReadFile(filepath.Join(folder, e.Name()))
			require.NoError(t, err)
			all += e.Name() + ":\n" + string(b)
		}
		return all
	}
}

func refresh(t *testing.T, sources []published.Source, dir string, latest bool) error {
	f, err := collect(sources, dir, latest)
	if err != nil {
		return err
	}
	return f.write(dir)
}

func TestRefresh(t *testing.T) {
	packages := fakeNPM(t)
	sources := fakeSources(t, packages)
	dir, files := sourcesDir(t)
	require.NoError(t, refresh(t, sources, dir, true))
	first := files()
	require.Contains(t, first, "a.example KI\n")
	require.Contains(t, first, "checked "+today()+"\n")
	require.Contains(t, first, "I npm:disposable-email-domains@1.0.1 MIT "+today()+" 2 sha512-")

	// A later refresh without -latest changes nothing, with it the day it was checked.
	older := strings.ReplaceAll(first[strings.Index(first, "provenance.txt:\n")+16:], today(), "2026-11-20")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sources", "provenance.txt"), []byte(older), 0o644))
	require.NoError(t, refresh(t, sources, dir, false))
	require.Contains(t, files(), older)
	require.NoError(t, refresh(t, sources, dir, true))
	require.Contains(t, files(), strings.Replace(older, "checked 2026-11-20", "checked "+today(), 1))

	// A new version gets the day on which it was fetched.
	publish(t, packages, "disposable-email-domains", "1.0.2", "package/index.json", `["a.example"]`)
	require.NoError(t, refresh(t, sources, dir, true))
	require.Contains(t, files(), "I npm:disposable-email-domains@1.0.2 MIT "+today()+" 1 sha512-")
}

// TestRefreshFails checks that a failure names the source and writes nothing.
func TestRefreshFails(t *testing.T) {
	packages := fakeNPM(t)
	sources := fakeSources(t, packages)
	dir, files := sourcesDir(t)
	require.NoError(t, refresh(t, sources, dir, true))
	before := files()

	publish(t, packages, "disposable-email-domains", "1.0.1", "package/index.json", `["other.example"]`)
	require.ErrorContains(t, refresh(t, sources, dir, false), "source I: disposable-email-domains@1.0.1: integrity is sha512-")
	publish(t, packages, "disposable-email-domains", "1.0.2", "package/list.json", `["other.example"]`)
	require.ErrorContains(t, refresh(t, sources, dir, true),
		"source I: disposable-email-domains@1.0.2 has no file package/index.json: has the package changed?")
	require.NoError(t, os.Remove(filepath.Join(packages, "disposable-email-domains.tgz")))
	err := refresh(t, sources, dir, true)
	require.ErrorContains(t, err, "source I: npm package disposable-email-domains: npm pack")
	require.ErrorContains(t, err, "E404 disposable-email-domains\nnothing was written")
	t.Setenv("PATH", t.TempDir())
	require.ErrorContains(t, refresh(t, published.Sources, dir, true),
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
	}
	var out bytes.Buffer
	report(&out, before, after, nil, false)
	require.Equal(t, `public -> disposable: 1
	real.example
public -> unlisted: 1
	gone.example
unlisted -> disposable: 1
	brand-new.exam
newly disposable, check each (add those that are wrong to allow.txt): 1
	real.example
4 entries before, 5 after
`, out.String())
}

func TestReportShortensLongGroups(t *testing.T) {
	after := tables.Map{}
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		after[string(c)+"-long-name.example"] = tables.Entry{Class: lists.Disposable}
	}
	var out bytes.Buffer
	report(&out, tables.Map{}, after, nil, false)
	require.Contains(t, out.String(), "\tt-long-name.example\n\t... and 6 more (-all shows them)\n")
}
