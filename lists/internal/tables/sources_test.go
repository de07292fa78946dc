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
	m, err := project()
	require.NoError(t, err)
	c, err := ReadCarriers("../..")
	require.NoError(t, err)
	for name := range m {
		if c.Of(name) == 0 { // require.NotZero would take most of the time
			t.Error(name)
		}
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

const checkedIn2026 = "checked 2026-11-22\n"

// observedDir returns tables with a file of observed domains.
func observedDir(t *testing.T, observed string, content map[string]string) string {
	dir := writeTables(t, content)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sources", "observed.txt"), []byte(observed), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sources", "provenance.txt"), []byte(checkedIn2026), 0o644))
	return dir
}

func TestObservedDays(t *testing.T) {
	o := Observed{}
	for _, seen := range [][2]string{{"a.example", "2026-08-02"}, {"b.example", "2026-07-01"}, {"a.example", "2026-06-01"}, {"c.example", "2026-08-02"}} {
		o.Add(seen[0], seen[1])
	}
	day, domains := o.Newest()
	require.Equal(t, "2026-08-02", day)
	require.Equal(t, 2, domains)
	require.Contains(t, o.Text(), "a.example 2026-06-01 2026-08-02\nb.example 2026-07-01\n")
	again, err := ReadObserved(observedDir(t, o.Text(), nil))
	require.NoError(t, err)
	require.Equal(t, o, again)
}

// A domain counts until no list has carried it for 18 months, to the day.
func TestObservedExpire(t *testing.T) {
	o := Observed{
		"old.example":   {"2024-01-01", "2025-05-21"},
		"kept.example":  {"2025-05-22", "2025-05-22"},
		"again.example": {"2024-01-01", "2026-01-01"},
	}
	votes, expired, err := o.Vote(map[string]Votes{"old.example": "M", "again.example": "D"}, "2026-11-22")
	require.NoError(t, err)
	require.Equal(t, []string{"old.example"}, expired)
	require.Equal(t, map[string]Votes{"old.example": "M", "kept.example": "C", "again.example": "DC"}, votes)
	_, _, err = o.Vote(nil, "today")
	require.ErrorContains(t, err, "today")
}

func TestMergeObserved(t *testing.T) {
	dir := observedDir(t, `seen.example 2026-08-02
proven.example 2024-01-02
gone.example 2024-01-02
mail.example 2026-08-02
x.relay.example 2026-08-02
provader.example 2026-08-02
provider.org 2026-08-02
broken.example 2026-08-02
dyndns.example 2026-08-02
`, mergeInput)
	m, err := Merge(dir)
	require.NoError(t, err)
	for domain, want := range map[string]lists.Class{
		"seen.example":       lists.Disposable,
		"below.seen.example": lists.Disposable,
		"proven.example":     lists.Disposable, // expired here, and on another list
		"gone.example":       0,
		"mail.example":       lists.Public, // the hand-written tables decide first
		"x.relay.example":    lists.Relay,
		"provader.example":   0, // one edit from a typo target
		"provider.org":       lists.Disposable,
		"broken.example":     0,
		"a.dyndns.example":   0, // shared: the entry does not cover subdomains
	} {
		require.Equal(t, want, m.Lookup(domain), domain)
	}
}

func TestReadObservedErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a.example\n":           "observed.txt:1: want a domain and one or two days",
		"a.example yesterday\n": "observed.txt:1: parsing time",
		"a.example 2026-01-01 2026-01-02 2026-01-03\n": "want a domain and one or two days",
	} {
		_, err := ReadObserved(observedDir(t, text, nil))
		require.ErrorContains(t, err, want)
	}
	none, err := ReadObserved(t.TempDir())
	require.NoError(t, err)
	require.Empty(t, none)
}
