package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/addrspec/addrspec/lists/internal/published"
	"github.com/addrspec/addrspec/lists/registry"
	"github.com/addrspec/addrspec/lists/registry/registrytest"
	"github.com/stretchr/testify/require"
)

func source(letter byte) published.Source {
	for _, s := range published.Sources {
		if s.Letter == letter {
			return s
		}
	}
	panic("no such source")
}

// TestHistory reads the committed history: it has D on every day that is needed,
// and the other lists on every day of measurement.
func TestHistory(t *testing.T) {
	h, err := readHistory("history.txt")
	require.NoError(t, err)
	for _, s := range published.Sources {
		for _, day := range neededDays(s.Letter) {
			v, found := h.at(s.Letter, day)
			require.True(t, found, "%c on %s", s.Letter, day)
			require.LessOrEqual(t, v.known, day)
		}
	}
	newest, _ := h.at('D', "9999-12-31")
	require.LessOrEqual(t, newest.known, after(lastDay, 60))
}

func TestHistoryErrors(t *testing.T) {
	for line, want := range map[string]string{
		"D pypi:disposable-email-domains@0.0.1 2025-01-07":        "history.txt:1: want letter",
		"D npm:disposable-email-domains@0.0.1 2025-01-07 sha256:": "D npm:disposable-email-domains@0.0.1 is not one of the published lists",
		"D pypi:disposable-email-domains@0.0.1 January sha256:":   "history.txt:1: parsing time",
	} {
		path := filepath.Join(t.TempDir(), "history.txt")
		require.NoError(t, os.WriteFile(path, []byte(line+"\n"), 0o644))
		_, err := readHistory(path)
		require.ErrorContains(t, err, want)
	}
}

func FuzzParseVersion(f *testing.F) {
	f.Add("D pypi:disposable-email-domains@0.0.1 2025-01-07 sha256:ab")
	f.Fuzz(func(t *testing.T, line string) {
		v, err := parseVersion(line)
		if err != nil {
			return
		}
		again, err := parseVersion(v.String())
		require.NoError(t, err)
		require.Equal(t, v.String(), again.String())
	})
}

func TestDays(t *testing.T) {
	all := days()
	require.Len(t, all, count)
	require.Equal(t, lastDay, all[count-1])
	require.Equal(t, all[1], after(all[0], interval))
	require.Equal(t, interval, horizons[len(horizons)-1], "or a domain counts twice")
}

func TestKnownSince(t *testing.T) {
	on := func(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }
	got := knownSince([]registry.Release{{Version: "1", Published: on(9)}, {Version: "2", Published: on(3)}, {Version: "3", Published: on(5)}})
	require.Equal(t, []registry.Release{{Version: "1", Published: on(3)}, {Version: "2", Published: on(3)}, {Version: "3", Published: on(5)}}, got)
}

// TestPinSource pins a list from a registry whose times do not rise with the
// versions.
func TestPinSource(t *testing.T) {
	npm := registrytest.FakeNPM(t)
	b := source('B')
	times := map[string]string{"created": "2012-01-01T00:00:00Z"}
	for version, day := range map[string]string{"1.0.2": "2025-01-02", "1.0.9": "2026-03-04", "1.0.10": "2025-06-01", "1.0.11": "2026-11-01"} {
		npm.Publish(t, b.Package, version, "package/emails.txt", "v"+version+".example\n")
		times[version] = day + "T00:00:00Z"
	}
	npm.Times(t, b.Package, times)
	versions, err := pinSource(b, store(t.TempDir()))
	require.NoError(t, err)
	var got []string
	for _, v := range versions {
		require.Contains(t, v.integrity, "sha512-")
		got = append(got, v.spec+" "+v.known)
	}
	require.Equal(t, []string{b.Package + "@1.0.2 2025-01-02", b.Package + "@1.0.10 2025-06-01"}, got)
}

// TestStore checks that a list is fetched once, and that a changed archive is
// refused.
func TestStore(t *testing.T) {
	npm := registrytest.FakeNPM(t)
	b := source('B')
	npm.Publish(t, b.Package, "1.0.2", "package/emails.txt", "a.example\n")
	p, err := registry.NPM.Fetch(b.Package + "@1.0.2")
	require.NoError(t, err)
	s, v := store(t.TempDir()), version{b, b.Package + "@1.0.2", "2026-01-01", p.Integrity}
	_, err = s.names(v.item())
	require.NoError(t, err)
	npm.Unpublish(t, b.Package, "1.0.2")
	names, err := s.names(v.item())
	require.NoError(t, err)
	require.Equal(t, []string{"a.example"}, names)

	npm.Publish(t, b.Package, "1.0.2", "package/emails.txt", "other.example\n")
	_, err = store(t.TempDir()).names(v.item())
	require.ErrorContains(t, err, "pinned is "+v.integrity)
	require.Contains(t, err.Error(), b.Package+"@1.0.2: integrity is sha512-")
}

// TestMeasureDay walks over one day whose lists are in the store already.
func TestMeasureDay(t *testing.T) {
	s, h := store(t.TempDir()), history{}
	add := func(letter byte, spec, known, names string) {
		v := version{source(letter), spec, known, "sum"}
		require.NoError(t, os.WriteFile(s.path(v.item()), []byte(names), 0o644))
		h[letter] = append(h[letter], v)
	}
	const day = "2026-01-01"
	add('D', "d@1", "2025-12-01", "old.example")
	add('K', "k@1", "2025-12-01", "caught.example parent.example")
	add('K', "k@2", "2026-01-02", "late.example")
	add('D', "d@2", "2026-01-07", "old.example caught.example")
	add('D', "d@3", "2026-02-20", "caught.example late.example x.parent.example")
	dir, err := withoutHindsight("..")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	known, err := mergedOn(dir, day, nil, h, s)
	require.NoError(t, err)
	row, err := measureDay(known, day, h, s)
	require.NoError(t, err)
	require.Equal(t, dayRow{day, 1, []int{1, 1, 3}, []int{1, 1, 2}}, row)

	var out bytes.Buffer
	printRows(&out, []dayRow{row, row})
	require.Contains(t, out.String(), "| 2026-01-01 | 1 | 1 (100.0 %) of 1 | 1 (100.0 %) of 1 | 2 (66.7 %) of 3 |\n")
	require.Contains(t, out.String(), "| all | | 2 (100.0 %) of 2 | 2 (100.0 %) of 2 | 4 (66.7 %) of 6 |\n")
}
