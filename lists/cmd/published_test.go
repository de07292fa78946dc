package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists/internal/tables"
	"github.com/addrspec/addrspec/lists/registry"
)

const python = "allowlist = {\n    'real.example',\n}\n\nblocklist = {\n    'a.example',\n    \"b.example\",\n}\n# end\n"

// readerOf returns the reader of the source with a letter.
func readerOf(letter byte) func([]byte) ([]string, error) {
	return published[slices.IndexFunc(published, func(s source) bool { return s.letter == letter })].read
}

func TestReaders(t *testing.T) {
	for name, c := range map[string]struct {
		read func([]byte) ([]string, error)
		file string
		want []string
	}{
		"array":       {readArray, `["a.example", "b.example"]`, []string{"a.example", "b.example"}},
		"lines":       {readerOf('B'), "a.example\r\nb.example\n", []string{"a.example", "b.example"}},
		"fakefilter":  {readerOf('K'), `{"t":1,"domains":{"a.example":{"provider":"p"}}}`, []string{"a.example"}},
		"mailchecker": {readerOf('M'), `var blacklist = new Set(["a.example","b.example"]);`, []string{"a.example", "b.example"}},
		"python":      {readPython, python, []string{"a.example", "b.example"}},
	} {
		got, err := c.read([]byte(c.file))
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
	for _, read := range []func([]byte) ([]string, error){readerOf('M'), readPython} {
		_, err := read([]byte(`module.exports = {}`))
		require.ErrorContains(t, err, "has the package changed?")
	}
	_, err := readPython([]byte("blocklist = {\n    'a.example', 'b.example',\n}\n"))
	require.ErrorContains(t, err, "not one quoted name")
}

func TestRead(t *testing.T) {
	s := source{letter: 'X', file: "list", read: readerOf('B')}
	for content, want := range map[string]string{"a.example": "", "": "no domains in it"} {
		_, err := s.names(&registry.Package{Name: "p", Version: "1", Files: map[string][]byte{"list": []byte(content)}})
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
	_, err := s.names(&registry.Package{Name: "p", Version: "1"})
	require.EqualError(t, err, "p@1 has no file list: has the package changed?")
}

func TestVote(t *testing.T) {
	votes := map[string]tables.Votes{"a.example": "D"}
	source{letter: 'M'}.vote(votes, []string{"A.example", "a.example", "no domain", "user@a.example", "localhost"})
	require.Equal(t, map[string]tables.Votes{"a.example": "DM"}, votes)
}

// TestSources checks that a letter is one source's, and a package too.
func TestSources(t *testing.T) {
	letters, packages := map[byte]bool{}, map[string]bool{}
	for _, s := range published {
		require.False(t, letters[s.letter])
		require.False(t, packages[s.registry.Name+s.pkg])
		letters[s.letter], packages[s.registry.Name+s.pkg] = true, true
	}
}

// FuzzRead feeds one file to every reader.
func FuzzRead(f *testing.F) {
	f.Add([]byte(python))
	f.Add([]byte(`["a.example"]`))
	f.Add([]byte(`{"domains":{"a.example":{}}}`))
	f.Add([]byte(`new Set(["a.example"])`))
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, s := range published {
			names, err := s.names(&registry.Package{Files: map[string][]byte{s.file: file}})
			if err != nil {
				continue
			}
			votes := map[string]tables.Votes{}
			s.vote(votes, names)
			require.LessOrEqual(t, len(votes), len(names))
			for name := range votes {
				again, err := tables.Canonical(name)
				require.NoError(t, err)
				require.Equal(t, name, again)
			}
		}
	})
}

// burners returns a list of n domains.
func burners(n int) string {
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, "burner%d.example\n", i)
	}
	return list.String()
}

func TestReadSnapshot(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, observedName), []byte("\n Burner0.EXAMPLE \r\n"+burners(200)), 0o644))
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for _, from := range []string{dir, filepath.Join(dir, observedName), server.URL + "/" + observedName} {
		s, err := readSnapshot(from, 400)
		require.NoError(t, err, from)
		require.Len(t, s.names, 200)
		require.Equal(t, "burner0.example", s.names[0])
		require.Empty(t, s.skipped)
		require.Regexp(t, `^sha256:[0-9a-f]{64}$`, s.integrity)
	}
}

// A public suffix and a broken name are left out, and named.
func TestObservedSkips(t *testing.T) {
	s, err := parseSnapshot([]byte(burners(300)+"co.uk\nddns.net\nno domain\n"), 0)
	require.NoError(t, err)
	require.Len(t, s.names, 300)
	require.Len(t, s.skipped, 3)
	require.Equal(t, []string{"co.uk is a public suffix", "ddns.net is a public suffix"}, s.skipped[:2])
}

// What a server may send in place of the list is refused, with the reason.
func TestObservedIsRefused(t *testing.T) {
	const before = 1000
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"too large":     {text(strings.Repeat("x", maxObserved+1)), "it has more than 4194304 bytes"},
		"not UTF-8":     {text(burners(600) + "caf\xe9.example\n"), "it is not UTF-8"},
		"half a line":   {text(strings.TrimSuffix(burners(1000), "ample\n")), "it ends within a line: it was cut off"},
		"half the list": {text(burners(400)), "it has 400 domains, the last time it had 1000"},
		"nothing":       {text(""), "it has 0 domains"},
		"a page":        {text("<!DOCTYPE html>\n<title>Not here</title>\n"), "is it another file?"},
		"suffixes":      {text(burners(600) + strings.Repeat("co.uk\n", 7)), "7 of 607 names cannot be entries, the first because co.uk is a public suffix"},
		"status":        {http.NotFound, "the server responded with status 404"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "20000")
			w.Write([]byte(burners(600)))
		}, "the connection ended before the file did"},
	} {
		server := httptest.NewServer(c.serve)
		_, err := readSnapshot(server.URL, before)
		server.Close()
		require.ErrorContains(t, err, c.want, name)
		require.ErrorContains(t, err, "the list of observed domains at "+server.URL)
	}
	_, err := readSnapshot(t.TempDir(), 0)
	require.ErrorContains(t, err, observedName)
	_, err = readSnapshot("http://127.0.0.1:1/list", 0)
	require.ErrorContains(t, err, "refused")
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(body)) }
}

// FuzzObserved reads anything as a list: what it returns are domains.
func FuzzObserved(f *testing.F) {
	f.Add([]byte(burners(100)))
	f.Add([]byte("co.uk\n\xff\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		s, err := parseSnapshot(file, 0)
		if err != nil {
			return
		}
		for _, domain := range s.names {
			again, err := tables.Canonical(domain)
			require.NoError(t, err)
			require.Equal(t, domain, again)
		}
	})
}
