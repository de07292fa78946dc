package main

import (
	"os"
	"testing"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/internal/tables"
	"github.com/stretchr/testify/require"
)

func TestCommittedBlob(t *testing.T) {
	packed, err := packer{Dir: ".."}.pack()
	require.NoError(t, err)
	committed, err := os.ReadFile("../lists.blob")
	require.NoError(t, err)
	require.True(t, string(packed) == string(committed), "lists.blob is stale: run `go run ./lists/cmd pack`")
}

// TestProviderEqualsMap compares the blob with a map of the merged tables, for
// every name, its subdomains and similar names, except those that say what they are.
func TestProviderEqualsMap(t *testing.T) {
	merged, err := tables.Merge("..")
	require.NoError(t, err)
	l := lists.Default()
	for name := range merged {
		for _, domain := range similar(name) {
			requireClass(t, merged, l, domain)
		}
	}
}

// requireClass compares the classes of a domain. A name without a class that says what it is
// may have one in the blob.
func requireClass(t *testing.T, merged tables.Map, l *lists.Lists, domain string) {
	want, got := merged.Lookup(domain), l.Provider([]byte(domain))
	if want&^lists.Unproven == 0 && got == lists.Disposable && lists.SelfNamed([]byte(domain)) {
		return
	}
	if match := l.Match([]byte(domain)).Class; want != got || want != match { // require.Equal would take most of the time
		t.Errorf("%s is %s, and %s with its entry, want %s", domain, got, match, want)
	}
}

// similar returns name, subdomains, its parent and misspellings.
func similar(name string) []string {
	last := name[len(name)-1]
	return []string{
		name, "x." + name, "a.b." + name, tables.Parent(name),
		"x" + name, "." + name, name + ".", name + "x", name[1:], name[:len(name)-1],
		name[:1] + name, name[:len(name)-1] + string(last^1), string(name[0]^1) + name[1:],
	}
}

// TestExchangeEqualsTable compares the blob with exchanges.txt, for every suffix, names
// below it and similar ones.
func TestExchangeEqualsTable(t *testing.T) {
	rows, err := tables.ReadExchanges("..")
	require.NoError(t, err)
	l := lists.Default()
	table := map[string]lists.Exchange{}
	for _, row := range rows {
		table[row.Suffix] = lists.Exchange{Class: row.Class, Provider: row.Provider}
	}
	for suffix := range table {
		for _, name := range similar(suffix) {
			want, covering := table[name], name
			for covering != "" && want.Class == "" {
				covering = tables.Parent(covering)
				want = table[covering]
			}
			e, entry := l.Exchange([]byte(name))
			if want.Class == "" {
				require.Nil(t, e, name)
				continue
			}
			require.Equal(t, want, *e, name)
			require.Equal(t, covering, string(entry), name)
		}
	}
}

// TestRoleEqualsMap compares the blob with roles.txt, for every word and similar
// ones.
func TestRoleEqualsMap(t *testing.T) {
	words, err := tables.ReadRoles("..")
	require.NoError(t, err)
	l := lists.Default()
	for word, role := range words {
		require.Equal(t, role, l.Word([]byte(word)), word)
		for _, other := range []string{word + "x", "x" + word, word[1:], word[:len(word)-1]} {
			require.Equal(t, words[other], l.Word([]byte(other)), other)
		}
	}
}

func FuzzProviderEqualsMap(f *testing.F) {
	merged, err := tables.Merge("..")
	require.NoError(f, err)
	l := lists.Default()
	f.Add([]byte("gmail.com"))            // a hit
	f.Add([]byte("me.mozmail.com"))       // a name that its parent covers
	f.Add([]byte(".com"))                 // an empty label
	f.Add([]byte("a..b\x00\xff-.gm.com")) // not a host name
	f.Fuzz(func(t *testing.T, domain []byte) {
		requireClass(t, merged, l, string(domain))
	})
}
