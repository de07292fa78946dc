package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/published"
	"github.com/addrspec/addrspec/lists/internal/tables"
	"github.com/addrspec/addrspec/lists/registry/registrytest"
	"github.com/stretchr/testify/require"
)

// fakeSources are three of the real sources, with packages of npm.
func fakeSources(t *testing.T, npm registrytest.NPM) (sources []published.Source) {
	for _, s := range published.Sources {
		if strings.ContainsRune("KIB", rune(s.Letter)) {
			sources = append(sources, s)
		}
	}
	npm.Publish(t, "fakefilter", "0.1.1", "package/json/data.json", `{"domains":{"a.example":{}}}`)
	npm.Publish(t, "disposable-email-domains", "1.0.1", "package/index.json", `["a.example","b.example"]`)
	npm.Publish(t, "burner-email-providers", "1.0.1", "package/emails.txt", "c.example\n")
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

func refresh(t *testing.T, sources []published.Source, dir string, latest bool) error {
	f, err := gather(sources, dir, latest, "")
	if err != nil {
		return err
	}
	return f.write(dir)
}

func TestRefresh(t *testing.T) {
	npm := registrytest.FakeNPM(t)
	sources := fakeSources(t, npm)
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
	npm.Publish(t, "disposable-email-domains", "1.0.2", "package/index.json", `["a.example"]`)
	require.NoError(t, refresh(t, sources, dir, true))
	require.Contains(t, files(), "I npm:disposable-email-domains@1.0.2 MIT "+today()+" 1 sha512-")
}

// TestRefreshObserved: a list of observed domains adds to what was observed before, and a
// refresh without one keeps it.
func TestRefreshObserved(t *testing.T) {
	sources := fakeSources(t, registrytest.FakeNPM(t))
	dir, files := sourcesDir(t)
	const known = "burner.example 2026-01-01\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sources", "observed.txt"), []byte(known), 0o644))
	list := "a.example\nburner.example\nco.uk\n"
	for n := range 200 {
		list += fmt.Sprintf("burner%d.example\n", n)
	}
	from := filepath.Join(t.TempDir(), "disposable-email-domains.txt")
	require.NoError(t, os.WriteFile(from, []byte(list), 0o644))
	f, err := gather(sources, dir, true, from)
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
	_, err = gather(sources, dir, true, from)
	require.ErrorContains(t, err, "source C: the list of observed domains at "+from)
	require.ErrorContains(t, err, "nothing was written")
}

// TestRefreshFails checks that a failure names the source and writes nothing.
func TestRefreshFails(t *testing.T) {
	npm := registrytest.FakeNPM(t)
	sources := fakeSources(t, npm)
	dir, files := sourcesDir(t)
	require.NoError(t, refresh(t, sources, dir, true))
	before := files()

	npm.Publish(t, "disposable-email-domains", "1.0.1", "package/index.json", `["other.example"]`)
	require.ErrorContains(t, refresh(t, sources, dir, false), "source I: disposable-email-domains@1.0.1: integrity is sha512-")
	npm.Publish(t, "disposable-email-domains", "1.0.2", "package/list.json", `["other.example"]`)
	require.ErrorContains(t, refresh(t, sources, dir, true),
		"source I: disposable-email-domains@1.0.2 has no file package/index.json: has the package changed?")
	npm.Unpublish(t, "disposable-email-domains", "1.0.2")
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
	require.Contains(t, out.String(), "\tt-long-name.example\n\t... and 6 more (-all shows them)\n")
}
