package tables

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
)

const page = " https://mail.example/help 2026-11-22\n"

// readIdentities reads text as canonical.txt.
func readIdentities(t testing.TB, text string) (Identities, error) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "canonical.txt"), []byte(text), 0o644))
	return ReadIdentities(dir)
}

func TestReadIdentities(t *testing.T) {
	i, err := readIdentities(t, "# a comment\n[one] tags ignores=.- domain=a.example"+page+"a.example\nB.example\n\n[two] subdomains"+page+"c.example\n")
	require.NoError(t, err)
	require.Equal(t, []lists.Rule{{Name: "one", Tags: true, Ignored: ".-", Domain: "a.example"}, {Name: "two", Subdomains: true}}, i.Rules)
	require.Equal(t, map[string]int{"a.example": 1, "b.example": 1, "c.example": 2}, i.Providers)
}

func TestReadIdentitiesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a.example\n": "canonical.txt:1: a.example is before the first rule",
		"[x] tags" + page + "a.example\na.example\n":      "canonical.txt:3: a.example is listed twice",
		"[x] tags" + page + "localhost\n":                 `canonical.txt:2: "localhost" is not a domain`,
		"[x] tags" + page + "[x] tags" + page:             "canonical.txt: there are two rules x",
		"[x] domain=b.example" + page + "a.example\n":     "canonical.txt: b.example is not a domain of the rule x",
		"[x] plus" + page:                                 `canonical.txt:1: "plus" is not an option: want tags`,
		"[x] ignores=a" + page:                            `"ignores=a" is not an option`,
		"[x] tags\n":                                      "canonical.txt:1: want [name], options, the provider's page",
		"[x] tags http://mail.example/help 2026-11-22\n":  `"http://mail.example/help" is not the https address of a page`,
		"[x] tags https://mail.example/help 22.11.2026\n": "canonical.txt:1: parsing time",
	} {
		_, err := readIdentities(t, text)
		require.ErrorContains(t, err, want, text)
	}
}

func FuzzReadIdentities(f *testing.F) {
	f.Add("[x] tags" + page + "a.example\n") // a rule
	f.Add("[] =" + page)                     // an empty name and option
	f.Fuzz(func(t *testing.T, text string) {
		i, err := readIdentities(t, text)
		if err != nil {
			return
		}
		for domain, number := range i.Providers {
			require.LessOrEqual(t, number, len(i.Rules), domain)
		}
	})
}

// TestIdentitiesOfPublicProviders checks that no domain with a rule has another
// class than public.
func TestIdentitiesOfPublicProviders(t *testing.T) {
	i, err := ReadIdentities("../..")
	require.NoError(t, err)
	m, err := Merge("../..")
	require.NoError(t, err)
	for domain := range i.Providers {
		require.Contains(t, []lists.Class{0, lists.Public}, m.Lookup(domain), domain)
	}
}
