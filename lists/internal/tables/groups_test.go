package tables

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
)

const group = "[A Mail] mailbox https://mail.example/help 2026-11-24\n"

// readExchanges reads text as exchanges.txt.
func readExchanges(t testing.TB, text string) ([]Exchange, error) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "exchanges.txt"), []byte(text), 0o644))
	return ReadExchanges(dir)
}

func TestReadExchanges(t *testing.T) {
	rows, err := readExchanges(t, "# a comment\n"+group+"mx.example.com\n\texample.org # its old name\n\n"+
		"[B] temporary npm:@scope/b-c@1.2.0 2026-11-23\nxn--bcher-kva.example\n[A Mail] suite pypi:d@3 2026-11-22\nexample.net\n")
	require.NoError(t, err)
	require.Equal(t, []Exchange{
		{"mx.example.com", "mailbox", "A Mail", "https://mail.example/help", "2026-11-24"},
		{"example.org", "mailbox", "A Mail", "https://mail.example/help", "2026-11-24"},
		{"xn--bcher-kva.example", "temporary", "B", "npm:@scope/b-c@1.2.0", "2026-11-23"},
		{"example.net", "suite", "A Mail", "pypi:d@3", "2026-11-22"},
	}, rows)
}

func TestReadExchangesErrors(t *testing.T) {
	head := func(provider, rest string) string { return "[" + provider + "] " + rest + "\na.example\n" }
	for text, want := range map[string]string{
		"a.example\n":                                                 "exchanges.txt:1: a.example is before the first group",
		group + "a.example\na.example\n":                              "exchanges.txt:3: a.example is listed twice",
		group + "a.example\n" + group:                                 "exchanges.txt: the group [A Mail] has no suffix",
		group + group + "a.example\n":                                 "exchanges.txt:2: the group [A Mail] has no suffix",
		group + "Mx.example\n":                                        "exchanges.txt:2: Mx.example must be in lower case and A-label form: write mx.example",
		group + "b\u00fccher.example\n":                               "write xn--bcher-kva.example",
		group + "*.a.example\n":                                       `"*.a.example" is not a domain`,
		group + "a.example b.example\n":                               `"a.example b.example" is not a domain`,
		group + "localhost\n":                                         `"localhost" is not a domain`,
		group + "co.uk\n":                                             "co.uk is a public suffix",
		group + "github.io\n":                                         "github.io is a public suffix",
		head("A", "mail https://a.example 2026-11-24"):                `"mail" is not a class of exchanges: want one of mailbox suite`,
		head("A", "own https://a.example 2026-11-24"):                 `"own" is not a class`,
		head("A", "suite 2026-11-24"):                                 "want [provider], class, evidence and the day",
		head("A", "suite https://a.example#b 2026-11-24"):             "a page has no fragment",
		head("A", "suite http://a.example 2026-11-24"):                `"http://a.example" is not evidence`,
		head("A", "suite https://localhost/a 2026-11-24"):             "is not evidence",
		head("A", "suite npm:a 2026-11-24"):                           `"npm:a" is not evidence`,
		head("A", "suite pypi:@a/b@1 2026-11-24"):                     "is not evidence",
		head("A", "suite https://a.example 24.11.2026"):               `"24.11.2026" is not a day: want the form 2026-11-24`,
		head("A", "suite https://a.example 2026-02-30"):               `"2026-02-30" is not a day`,
		"[A suite https://a.example 2026-11-24\n":                     "want [provider]",
		head("", "suite https://a.example 2026-11-24"):                `"" is not the name of a provider`,
		head(" A", "suite https://a.example 2026-11-24"):              `" A" is not the name of a provider`,
		head("A\"", "suite https://a.example 2026-11-24"):             "without quotation mark",
		head(`A\`, "suite https://a.example 2026-11-24"):              "is not the name of a provider",
		head("\u00c4", "suite https://a.example 2026-11-24"):          "is not the name of a provider",
		head("A\x7f", "suite https://a.example 2026-11-24"):           "is not the name of a provider",
		head(strings.Repeat("a", 65), "suite https://a.b 2026-11-24"): "want 1 to 64 printable ASCII characters",
	} {
		_, err := readExchanges(t, text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestFewTemporaryExchanges(t *testing.T) {
	text := strings.Replace(group, "mailbox", "temporary", 1)
	for i := range 60 {
		text += fmt.Sprintf("mx%d.example\n", i)
	}
	_, err := readExchanges(t, text)
	require.NoError(t, err)
	_, err = readExchanges(t, text+"mx60.example\n")
	require.ErrorContains(t, err, "exchanges.txt:62: mx60.example is suffix 61 of class temporary: at most 60")
}

func FuzzReadExchanges(f *testing.F) {
	f.Add(group + "a.example\n")
	f.Add("[] suite npm:a@1 2026-11-24\nA.example\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := readExchanges(t, text)
		if err != nil {
			return
		}
		for _, row := range rows {
			again, err := readExchanges(t, fmt.Sprintf("[%s] %s %s %s\n%s\n", row.Provider, row.Class, row.Evidence, row.Day, row.Suffix))
			require.NoError(t, err)
			require.Equal(t, []Exchange{row}, again)
		}
	})
}

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
		"[x] tags" + page + "[x] tags" + page:             "canonical.txt:2: there are two rules x",
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
	m, err := project()
	require.NoError(t, err)
	for domain := range i.Providers {
		require.Contains(t, []lists.Class{0, lists.Public}, m.Lookup(domain), domain)
	}
}

// readMailboxes reads text as mailboxes.txt.
func readMailboxes(t testing.TB, text string) (Mailboxes, error) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mailboxes.txt"), []byte(text), 0o644))
	return ReadMailboxes(dir)
}

func TestReadMailboxes(t *testing.T) {
	m, err := readMailboxes(t, "[one] characters=._"+page+"a.example\nB.example\n"+
		"[two] characters=- first=alphanumeric least=4 most=31"+page+"c.example\n")
	require.NoError(t, err)
	require.Equal(t, []lists.MailboxRule{{Name: "one", Characters: "._", First: "._", Least: 1, Most: 64},
		{Name: "two", Characters: "-", Least: 4, Most: 31}}, m.Rules)
	require.Equal(t, map[string]int{"a.example": 1, "b.example": 1, "c.example": 2}, m.Providers)
}

func TestReadMailboxesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a.example\n":                       "mailboxes.txt:1: a.example is before the first rule",
		"[x] characters=._+" + page:         `mailboxes.txt:1: "characters=._+" is not an option: want characters=`,
		"[x] first=letter" + page:           `"first=letter" is not an option`,
		"[x] least=0" + page:                `"least=0" is not an option`,
		"[x] most=65" + page:                `"most=65" is not an option`,
		"[x] least=six" + page:              `"least=six" is not an option`,
		"[x] tags" + page:                   `"tags" is not an option`,
		"[x] least=9 most=8" + page:         "the least length of x, 9, is above its most, 8",
		"[x] characters=. mail.example 1\n": `"mail.example" is not the https address of a page`,
	} {
		_, err := readMailboxes(t, text)
		require.ErrorContains(t, err, want, text)
	}
}

func FuzzReadMailboxes(f *testing.F) {
	f.Add("[x] characters=._ first=alphanumeric least=4 most=31" + page + "a.example\n") // a rule
	f.Add("[] least=" + page)                                                            // an empty name and option
	f.Fuzz(func(t *testing.T, text string) {
		m, err := readMailboxes(t, text)
		if err != nil {
			return
		}
		for _, r := range m.Rules {
			require.True(t, 1 <= r.Least && r.Least <= r.Most && r.Most <= 64, r)
		}
		for domain, number := range m.Providers {
			require.LessOrEqual(t, number, len(m.Rules), domain)
		}
	})
}

// The mailboxes of two large providers contradict what their pages say (3.6 and 4.6 % of
// people), so there must be no rule for them.
func TestMailboxesOfPublicProviders(t *testing.T) {
	mailboxes, err := ReadMailboxes("../..")
	require.NoError(t, err)
	m, err := project()
	require.NoError(t, err)
	for domain := range mailboxes.Providers {
		require.Equal(t, lists.Public, m.Lookup(domain), domain)
		require.NotContains(t, []string{"163.com", "126.com"}, domain)
	}
}
