package core

import (
	"os"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/lists"
	"github.com/stretchr/testify/require"
)

// TestCanonical reads testdata/canonical.txt: an address, its canonical form and
// the rule, with tabs between them.
func TestCanonical(t *testing.T) {
	table, err := os.ReadFile("testdata/canonical.txt")
	require.NoError(t, err)
	c, rows := New(lists.Default()), 0
	for line := range strings.Lines(string(table)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		row := strings.Split(line, "\t")
		require.Len(t, row, 3, line)
		email, canonical, rule := row[0], row[1], row[2]
		d := detailsOf(t, c, email)
		require.NotNil(t, d.Canonical, email)
		require.Equal(t, canonical, *d.Canonical, email)
		if rule == "-" {
			require.Nil(t, d.CanonicalRule, email)
		} else {
			require.NotNil(t, d.CanonicalRule, email)
			require.Equal(t, rule, *d.CanonicalRule, email)
		}
		rows++
	}
	require.Greater(t, rows, 40)
}

// TestCanonicalPeers checks our column of the comparison with other libraries, and
// that every difference has a reason.
func TestCanonicalPeers(t *testing.T) {
	table, err := os.ReadFile("testdata/canonical_peers.tsv")
	require.NoError(t, err)
	c := New(lists.Default())
	for line := range strings.Lines(string(table)) {
		if line[0] == '#' {
			continue
		}
		row := append(strings.Split(strings.TrimSpace(line), "\t"), "")
		require.GreaterOrEqual(t, len(row), 5, line)
		require.Equal(t, row[1], *detailsOf(t, c, row[0]).Canonical, row[0])
		differs := row[1] != row[2] || row[1] != row[3]
		require.Equal(t, differs, row[4] != "", "%s: want a reason for a difference, and only for one", row[0])
	}
}

// requireMailbox requires the canonical form of email to be valid, and its own
// canonical form by the same rule.
func requireMailbox(t testing.TB, c *Checker, email string) {
	t.Helper()
	d := detailsOf(t, c, email)
	if d.Canonical == nil {
		require.Nil(t, d.CanonicalRule, "%q", email)
		require.NotNil(t, d.Refusal, "%q", email)
		return
	}
	again := detailsOf(t, c, *d.Canonical)
	require.Nil(t, again.Refusal, "%q: %q", email, *d.Canonical)
	require.Equal(t, *d.Canonical, *again.Canonical, "%q", email)
	require.Equal(t, d.CanonicalRule, again.CanonicalRule, "%q", email)
}

// FuzzDetails checks details of any input with the built-in lists.
func FuzzDetails(f *testing.F) {
	for _, email := range []string{"j.d+x@googlemail.com", "x@jane.fastmail.com", "-.+x@proton.me", "a\b@c", "a\"@b", "\"a b\"@gmail.com",
		"\xff@me.com", "jane@gmial.com", "support-eu@ya.ru", "x@a.mailinator.com", "e.\u0301@gmail.com"} {
		f.Add(email)
	}
	c := New(lists.Default())
	f.Fuzz(func(t *testing.T, email string) { requireMailbox(t, c, email) })
}

// TestCanonicalOfNoAddress checks that an address that is not valid has no mailbox.
func TestCanonicalOfNoAddress(t *testing.T) {
	d := detailsOf(t, New(lists.Default()), "jane@@gmail.com")
	require.Nil(t, d.Canonical)
	require.Nil(t, d.CanonicalRule)
}
