package main

import (
	"testing"

	"github.com/addrspec/addrspec/lists/internal/tables"
	"github.com/addrspec/addrspec/lists/registry"
	"github.com/stretchr/testify/require"
)

const python = "allowlist = {\n    'real.example',\n}\n\nblocklist = {\n    'a.example',\n    \"b.example\",\n}\n# end\n"

func TestReaders(t *testing.T) {
	for name, c := range map[string]struct {
		read func([]byte) ([]string, error)
		file string
		want []string
	}{
		"array":       {readArray, `["a.example", "b.example"]`, []string{"a.example", "b.example"}},
		"lines":       {readLines, "a.example\r\nb.example\n", []string{"a.example", "b.example"}},
		"fakefilter":  {readFakefilter, `{"t":1,"domains":{"a.example":{"provider":"p"}}}`, []string{"a.example"}},
		"mailchecker": {readMailchecker, `var blacklist = new Set(["a.example","b.example"]);`, []string{"a.example", "b.example"}},
		"python":      {readPython, python, []string{"a.example", "b.example"}},
	} {
		got, err := c.read([]byte(c.file))
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
	for _, read := range []func([]byte) ([]string, error){readMailchecker, readPython} {
		_, err := read([]byte(`module.exports = {}`))
		require.ErrorContains(t, err, "has the package changed?")
	}
	_, err := readPython([]byte("blocklist = {\n    'a.example', 'b.example',\n}\n"))
	require.ErrorContains(t, err, "not one quoted name")
}

func TestRead(t *testing.T) {
	s := source{letter: 'X', file: "list", read: readLines}
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
