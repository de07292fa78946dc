package tables

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
)

// writeTables writes tables into a temporary directory and returns it. Tables that
// are not in content are empty.
func writeTables(t *testing.T, content map[string]string) string {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sources"), 0o755))
	for _, file := range []string{"no-reply.txt", "relay.txt", "public.txt", "allow.txt", "disposable.txt", "known.txt", "near.txt",
		"ignore.txt", "shared.txt", "lent.txt", "withdrawn.txt", "endings.txt", "typo-targets.txt", "sources/domains.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(content[file]), 0o644))
	}
	return dir
}

// mergeInput has rows for each rule of Merge, alone and in conflict with others.
var mergeInput = map[string]string{
	"no-reply.txt":     "*.silent.example Forge\n",
	"relay.txt":        "*.relay.example Service\nexact-relay.example\niki.fi\n",
	"public.txt":       "mail.example\n*.isp.example\n",
	"allow.txt":        "real.example # a comment\n",
	"disposable.txt":   "throw.example\n",
	"known.txt":        "near.example\nquiet.example\nmail.example\n",
	"ignore.txt":       "broken.example\n",
	"shared.txt":       "dyndns.example\nregistry.example\n",
	"lent.txt":         "owner.example one.owner.example,two.owner.example 2026-11-28 service\nregistry.example lent.registry.example 2026-11-28 service\n",
	"withdrawn.txt":    "withdrawn.example MIB 2024-05-09 forwards\nhalf-withdrawn.example I 2024-05-09 forwards\nwithdrawn-proven.example MIB 2024-05-09 forwards\n",
	"endings.txt":      "burn a note\n",
	"typo-targets.txt": "provider.example\n",
	"sources/domains.txt": `a.relay.example DMI
silent.example DMI
users.silent.example EF
relay.example DMI
exact-relay.example D
below.exact-relay.example D
mail.example DMIBFE
x.isp.example D
real.example D
near.example D
broken.example D
dyndns.example D
one.dyndns.example K
proven.example D
below.proven.example D
crawled.example K
agreed.example MI
agreed-public.example MIBF
agreed-provider.example MBE
provider.org MB
provider.com.co MIB
provider.example.net MB
provider.net D
x.provider.net MI
freenom.tk MI
provider.tk DMI
tempmail-now.example MIBFE
fake-inbox.private.example MIF
owner.example DMI
three.owner.example DK
a.one.owner.example D
registry.example D
own.registry.example D
other.registry.example MI
withdrawn.example MIB
half-withdrawn.example MIB
withdrawn-proven.example DMIB
unproven.proven.example MI
below.agreed.example D
listed.burn D
unproven.burn MI
copied.example IB
alone.example M
provoder.example MB
provoderr.example MB
proven-provider.example D
both-public.example EF
one-public.example F
tainted-public.example EFM
school.edu.example EF
school.edu EF
co.uk D
`,
}

// mergeWant has the classes that mergeInput gives.
var mergeWant = map[string]lists.Class{
	"silent.example":             lists.NoMail,
	"users.silent.example":       lists.NoMail,
	"relay.example":              lists.Relay,
	"iki.fi":                     lists.Relay, // a suffix of the private section
	"someone.iki.fi":             0,
	"a.relay.example":            lists.Relay,
	"exact-relay.example":        lists.Relay,
	"below.exact-relay.example":  lists.Disposable, // the relay's entry does not cover it
	"mail.example":               lists.Public,
	"x.mail.example":             0,
	"x.isp.example":              lists.Disposable, // the more specific entry
	"y.isp.example":              lists.Public,
	"real.example":               lists.Known,
	"near.example":               lists.Disposable, // a published list precedes known.txt
	"quiet.example":              lists.Known,
	"throw.example":              lists.Disposable,
	"x.throw.example":            lists.Disposable,
	"broken.example":             0,
	"dyndns.example":             0, // below it are everybody's names
	"one.dyndns.example":         lists.Disposable,
	"two.dyndns.example":         0,
	"proven.example":             lists.Disposable,
	"x.proven.example":           lists.Disposable,
	"crawled.example":            lists.Disposable,
	"agreed.example":             lists.Unproven,
	"agreed-public.example":      0, // a list of public providers has it too
	"agreed-provider.example":    0,
	"provider.org":               0, // a provider's name under another ending
	"provider.com.co":            0,
	"provider.example.net":       0,                // one more ending
	"provider.net":               lists.Disposable, // with proof
	"freenom.tk":                 0,
	"provider.tk":                lists.Disposable,
	"tempmail-now.example":       lists.Disposable, // says what it is
	"fake-inbox.private.example": 0,                // below a name that does not
	"owner.example":              0,                // although with proof
	"one.owner.example":          lists.Disposable,
	"a.one.owner.example":        lists.Disposable,
	"two.owner.example":          lists.Disposable, // lent, on no list
	"three.owner.example":        0,
	"registry.example":           0,
	"lent.registry.example":      lists.Disposable,
	"own.registry.example":       lists.Disposable,
	"other.registry.example":     lists.Unproven,
	"x.registry.example":         0,
	"withdrawn.example":          0,
	"half-withdrawn.example":     lists.Unproven, // by M and B
	"withdrawn-proven.example":   lists.Disposable,
	"unproven.proven.example":    lists.Disposable, // an unproven entry hides none of a parent
	"below.agreed.example":       lists.Disposable,
	"x.agreed.example":           lists.Unproven,
	"burn":                       lists.Unproven,
	"x.burn":                     lists.Unproven,
	"listed.burn":                lists.Disposable,
	"copied.example":             0,
	"alone.example":              0,
	"provoder.example":           0,              // one edit from a typo target
	"provoderr.example":          lists.Unproven, // two edits
	"both-public.example":        lists.Public,
	"one-public.example":         0,
	"tainted-public.example":     0,
	"school.edu.example":         lists.Public, // edu is reserved below a country only
	"school.edu":                 0,
	"co.uk":                      0,
	"x.co.uk":                    0,
}

// project has the merged tables of the project.
var project = sync.OnceValues(func() (Map, error) { return Merge("../..") })

func TestMergePrecedence(t *testing.T) {
	m, err := Merge(writeTables(t, mergeInput))
	require.NoError(t, err)
	for domain, want := range mergeWant {
		require.Equal(t, want, m.Lookup(domain), domain)
	}
	for _, implied := range []string{"below.proven.example", "unproven.proven.example", "unproven.burn"} {
		require.NotContains(t, m, implied, "the entry of its parent implies it")
	}
}

func TestMergeErrors(t *testing.T) {
	for want, content := range map[string]map[string]string{
		"public.txt: mail.example is in another table too": {"relay.txt": "mail.example\n", "public.txt": "mail.example\n"},
		"relay.txt:2: mail.example is listed twice":        {"relay.txt": "mail.example\n*.mail.example\n"},
		"public.txt: co.uk is a public suffix":             {"public.txt": "co.uk\n"},
		"relay.txt: iki.fi is a public suffix":             {"relay.txt": "*.iki.fi\n"},
		"disposable.txt: iki.fi is a public suffix":        {"disposable.txt": "iki.fi\n"},
		`allow.txt:1: "localhost" is not a domain`:         {"allow.txt": "localhost\n"},
		"lent.txt:1: want a domain, names":                 {"lent.txt": "a.example b.a.example 2026-11-28\n"},
		"lent.txt:2: a.example is listed twice":            {"lent.txt": "a.example b.a.example 2026-11-28 x\na.example c.a.example 2026-11-28 x\n"},
		`lent.txt:1: "b.example" is no name below a.ex`:    {"lent.txt": "a.example b.example 2026-11-28 x\n"},
		`lent.txt:1: "A.example" is no domain in lower`:    {"lent.txt": "A.example b.A.example 2026-11-28 x\n"},
		`withdrawn.txt:1: "today" is not a day`:            {"withdrawn.txt": "a.example M today x\n"},
		`withdrawn.txt:1: "MD" are not the letters`:        {"withdrawn.txt": "a.example MD 2026-11-28 x\n"},
		"withdrawn.txt:2: a.example is listed twice":       {"withdrawn.txt": "a.example M 2026-11-28 x\na.example I 2026-11-28 x\n"},
		`endings.txt:1: "com" is not allowed`:              {"endings.txt": "com\n"},
		"endings.txt:2: hair is listed twice":              {"endings.txt": "hair\nhair\n"},
		`endings.txt:1: "co.uk" is not allowed`:            {"endings.txt": "co.uk\n"},
		"domains.txt:1: want a domain and letters":         {"sources/domains.txt": "mail.example\n"},
	} {
		_, err := Merge(writeTables(t, content))
		require.ErrorContains(t, err, want)
	}
}

func TestOneEdit(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"gmail", "gmail", false}, {"gmai", "gmail", true}, {"gmaill", "gmail", true}, {"gnail", "gmail", true},
		{"gmial", "gmail", true}, {"mgail", "gmail", true}, {"gma", "gmail", false}, {"gmlia", "gmail", false},
		{"", "a", true}, {"", "", false}, {"ab", "ba", true}, {"abc", "cba", false},
	} {
		require.Equal(t, c.want, oneEdit(c.a, c.b), c)
		require.Equal(t, c.want, oneEdit(c.b, c.a), c)
	}
}
