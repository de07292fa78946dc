package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/lists/internal/tables"
	"github.com/stretchr/testify/require"
)

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
