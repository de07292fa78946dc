package tables

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
)

func TestReadCarriers(t *testing.T) {
	dir := writeTables(t, map[string]string{
		"public.txt":          "*.mail.example a note\n",
		"known.txt":           "mail.example\nquiet.example\n",
		"ignore.txt":          "proven.example\n",
		"lent.txt":            "owner.example lent.owner.example 2026-11-28 service\n",
		"endings.txt":         "burn\n",
		"sources/domains.txt": "mail.example DM\nproven.example D\n",
	})
	provenance := "checked 2026-11-21\n" +
		"D pypi:disposable@1.2 MIT 2026-11-20 10 sha256:x a remark\n" +
		"M npm:@scope/checker@6.0.21 ISC 2026-11-19 20 sha512-x another\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sources", "provenance.txt"), []byte(provenance), 0o644))
	c, err := ReadCarriers(dir)
	require.NoError(t, err)
	for name, want := range map[string][]string{
		"mail.example":       {"addrspec/public.txt", "addrspec/known.txt", "pypi:disposable", "npm:@scope/checker"},
		"quiet.example":      {"addrspec/known.txt"},
		"proven.example":     {"pypi:disposable"}, // a correction carries no entry
		"lent.owner.example": {"addrspec/lent.txt"},
		"owner.example":      nil,
		"burn":               {"addrspec/endings.txt"},
		"other.example":      nil,
	} {
		var got []string
		for i, s := range c.Sources {
			if c.Of(name)>>i&1 != 0 {
				got = append(got, s.Name)
			}
		}
		require.Equal(t, want, got, name)
	}
	require.Contains(t, c.Sources, lists.Source{Name: "addrspec/known.txt", Domains: "2"})
	require.Contains(t, c.Sources, lists.Source{Name: "npm:@scope/checker", Version: "6.0.21", Licence: "ISC", Day: "2026-11-19", Domains: "20"})
}

// TestEveryEntryHasACarrier checks the tables of the project: each entry comes from
// some source.
func TestEveryEntryHasACarrier(t *testing.T) {
	m, err := Merge("../..")
	require.NoError(t, err)
	c, err := ReadCarriers("../..")
	require.NoError(t, err)
	for name := range m {
		require.NotZero(t, c.Of(name), name)
	}
}

func TestProvenance(t *testing.T) {
	const row = "D pypi:list@1.2 MIT 2026-11-20 3 sha256:ab a remark\n"
	for text, want := range map[string]string{
		"checked 2026-11-22\n" + row:            "",
		row:                                     `no line "checked DAY"`,
		"checked today\n" + row:                 "provenance.txt:1: parsing time",
		"checked 2026-11-22\nD pypi:list@1.2\n": "provenance.txt:2: want letter, package",
		"D list@1.2 MIT 2026-11-20 3 sha a b\n": `provenance.txt:1: want registry:package@version, got "list@1.2"`,
	} {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "sources"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "sources", "provenance.txt"), []byte(text), 0o644))
		day, err := ReadChecked(dir)
		if want != "" {
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "2026-11-22", day)
		sources, err := ReadProvenance(dir)
		require.NoError(t, err)
		require.Equal(t, []Source{{"D", "pypi", "list@1.2", "MIT", "2026-11-20", "3", "sha256:ab", "a remark"}}, sources)
	}
}
