package extra

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/feed/feedtest"
)

// file writes a file of rows.
func file(t testing.TB, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "extra.txt")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// merged returns the project's lists with the rows of a text.
func merged(t testing.TB, text string) *lists.Lists {
	t.Helper()
	rows, err := Read(file(t, text))
	require.NoError(t, err)
	packed, err := rows.AddTo(lists.Blob())
	require.NoError(t, err)
	l, err := lists.Open(packed)
	require.NoError(t, err)
	return l
}

func TestRowsWin(t *testing.T) {
	l := merged(t, "\ufeff# ours\r\n[known]  # in use\r\nmailinator.com\twrongly listed\r\n*.corp.example\r\ngmial.com\r\n"+
		"[disposable]\nburner.example\nmünchen.example note # comment\nyopmail.com\n[public]\nWEBMAIL.example\n[relay]\n*.forward.example\n[known]\na.burner.example\n")
	for domain, want := range map[string]lists.Class{
		"mailinator.com": lists.Known, "a.mailinator.com": 0, "gmial.com": lists.Known, // published: disposable, with subdomains; none
		"corp.example": lists.Known, "a.corp.example": lists.Known,
		"burner.example": lists.Disposable, "b.burner.example": lists.Disposable, "a.burner.example": lists.Known,
		"xn--mnchen-3ya.example": lists.Disposable, "webmail.example": lists.Public, "a.webmail.example": 0,
		"a.forward.example": lists.Relay, "gmail.com": lists.Public, "other.example": 0,
	} {
		require.Equal(t, want, l.Provider([]byte(domain)), domain)
	}
	own := len(l.Sources()) - 1
	require.Equal(t, lists.Source{Name: Source, Domains: "9"}, l.Sources()[own])
	m := l.Match([]byte("mailinator.com"))
	require.True(t, m.CarriedBy(own))
	for i := range own {
		require.False(t, m.CarriedBy(i), "the others have it with another class")
		require.Equal(t, lists.Default().Match([]byte("yopmail.com")).CarriedBy(i), l.Match([]byte("yopmail.com")).CarriedBy(i), "they agree")
	}
	require.True(t, l.Match([]byte("yopmail.com")).CarriedBy(own))
	require.Equal(t, lists.Default().Version()[:10], l.Version()[:10], "the age of the lists is that of the published ones")
	require.NotEqual(t, lists.Default().Version(), l.Version())
	require.Equal(t, lists.Default().RoleWords(), l.RoleWords())
}

// A row gives a domain another class; what its provider publishes about mailboxes stays.
func TestRowKeepsMailboxRule(t *testing.T) {
	_, want := lists.Default().Lookup([]byte("gmail.com"))
	class, rule := merged(t, "[known]\ngmail.com\n").Lookup([]byte("gmail.com"))
	require.Equal(t, lists.Known, class)
	require.NotZero(t, rule)
	require.Equal(t, want, rule)
}

// A row for an exchange decides whether it makes other domains disposable, also against the
// table of exchanges.
func TestRowsDecideAboutExchanges(t *testing.T) {
	l := merged(t, "[disposable]\nmx.burner.example\nmine.mail.td\n[known]\n*.mail.cx\n*.mailinator.com\nmail.td\n")
	for exchange, temporary := range map[string]bool{
		"a.mx.burner.example": true, "burner.example": false,
		"mx.mail.cx": false, "mail.mailinator.com": false,
		"mail.td": false, "mx.mail.td": true, "mine.mail.td": true,
	} {
		require.Equal(t, temporary, l.MatchExchange([]byte(exchange)).Temporary, exchange)
	}
	require.True(t, lists.Default().MatchExchange([]byte("mx.mail.cx")).Temporary)
}

// Without rows the blob remains as it is, with its version.
func TestNoRows(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "[known]\n"} {
		require.Equal(t, lists.Default().Version(), merged(t, text).Version(), "%q", text)
	}
	packed, err := (*Rows)(nil).AddTo(lists.Blob())
	require.NoError(t, err)
	require.Equal(t, lists.Blob(), packed)
}

func TestReadRefuses(t *testing.T) {
	for text, words := range map[string]string{
		"a.example\n":                     ":1: the row has no class: write [known]",
		"[known]\n\n[spam]\na.example":    ":3: this is no class",
		"[no_mail]\n":                     ":1: this is no class",
		"[known] a.example\n":             ":1: this is no class",
		"[known\n":                        ":1: this is no class",
		"[known]\njane@partner.example\n": ":2: this is an address: write only its domain",
		"[known]\ncom\n":                  ":2: this is no domain of at least two labels",
		"[known]\n*.*.a.example\n":        ":2: this is no domain",
		"[known]\na_b.example\n":          ":2: this is no domain",
		"[known]\n-a.example\n":           ":2: this is no domain",
		"[known]\n" + strings.Repeat("a", 64) + ".example\n": ":2: this is no domain",
		"[known]\na.example\n[relay]\nA.EXAMPLE\n":           ":4: line 2 has this domain already",
		"[known]\nco.uk\n":         ":2: this is a public suffix",
		"[disposable]\nddns.net\n": ":2: this is a public suffix",
		"[known]\n*.ddns.net\n":    ":2: this is a public suffix",
		"[known]\na\xff.example\n": ":2: the line is not UTF-8",
	} {
		path := file(t, text)
		_, err := Read(path)
		require.ErrorContains(t, err, path+words, "%q", text)
		require.NotContains(t, err.Error(), "jane", "an address in a log")
	}
	_, err := Read(file(t, "[known]\nddns.net\n"))
	require.NoError(t, err, "its owner, and no name below it")
	_, err = Read(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A pipe would be empty when serve reads it again, and opening one without a writer may
// block for ever. A device may have no end.
func TestReadRefusesWhatIsNoFile(t *testing.T) {
	pipe, writer, err := os.Pipe()
	require.NoError(t, err)
	defer pipe.Close()
	require.NoError(t, writer.Close())
	for _, path := range []string{fmt.Sprint("/dev/fd/", pipe.Fd()), t.TempDir(), os.DevNull} {
		_, err := Read(path)
		require.ErrorContains(t, err, path+" is not a regular file")
	}
}

func manyRows(n int) string {
	var text strings.Builder
	text.WriteString("[disposable]\n")
	for i := range n {
		fmt.Fprintf(&text, "burner-%d.example\n", i)
	}
	return text.String()
}

func TestLimits(t *testing.T) {
	l := merged(t, manyRows(MaxRows))
	require.Equal(t, lists.Default().Count(lists.Disposable)+MaxRows, l.Count(lists.Disposable))
	_, err := Read(file(t, manyRows(MaxRows+1)))
	require.ErrorContains(t, err, ":10002: there are more than 10000 rows")

	comment := "#" + strings.Repeat("x", MaxBytes-1)
	_, err = Read(file(t, comment))
	require.NoError(t, err)
	_, err = Read(file(t, comment+"x"))
	require.ErrorContains(t, err, "is larger than 1024 KiB")
}

func TestAddToDamaged(t *testing.T) {
	rows, err := Read(file(t, "[known]\na.example\n"))
	require.NoError(t, err)
	_, err = rows.AddTo(lists.Blob()[:100])
	require.ErrorContains(t, err, "damaged")
	_, err = rows.AddTo(feedtest.OtherFormat(lists.Blob()))
	require.ErrorAs(t, err, new(*lists.VersionError))
}

func TestBase(t *testing.T) {
	base, err := Base(nil, lists.Default().Version())
	require.NoError(t, err)
	require.Equal(t, lists.Blob(), base)
	base, err = Base([]byte("given"), "any")
	require.NoError(t, err)
	require.Equal(t, "given", string(base))
	_, err = Base(nil, "2020.01.01-00000000")
	require.ErrorContains(t, err, "give those of the module with --lists")
}

// FuzzRead reads any text. Rows that are accepted must be found in the lists with their class.
func FuzzRead(f *testing.F) {
	f.Add("[known]\n*.a.example note\n[disposable]\nb.example # note\n")
	f.Add("\ufeff[relay]\r\nmünchen.example\n[public]\n\x00\n[")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := parse("extra.txt", text)
		if err != nil {
			require.Regexp(t, `^extra\.txt:\d+: `, err.Error())
			return
		}
		packed, err := rows.AddTo(lists.Blob())
		require.NoError(t, err)
		l, err := lists.Open(packed)
		require.NoError(t, err)
		for name, r := range rows.entries {
			m := l.Match([]byte(name))
			require.Equal(t, []any{name, r.class, r.subdomains}, []any{string(m.Entry), m.Class, m.Subdomains})
		}
	})
}
