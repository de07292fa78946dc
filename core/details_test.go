package core

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
)

// details is the member details of a result.
type details struct {
	Refusal *struct {
		Code, Section, Sentence string
		Suggestion              *string
		Offset                  int
	}
	Canonical        *string
	CanonicalRule    *string `json:"canonical_rule"`
	RoleEvidence     any     `json:"role_evidence"`
	ProviderEvidence *struct {
		Entry, Class string
		Subdomains   bool
		Sources      []string
	} `json:"provider_evidence"`
	TypoEvidence *struct {
		Target string
		Edits  []edit
	} `json:"typo_evidence"`
	Versions struct{ Engine, Lists, Model string }
}

// edit is an edit of typo_evidence.
type edit struct {
	Kind     string
	At       int
	From, To string
}

// detailsOf returns the member details for email. It requires the result without
// it to be that of AppendJSON, and the members to be in the order of the contract.
func detailsOf(t testing.TB, c *Checker, email string) (d details) {
	t.Helper()
	f := c.Check([]byte(email))
	plain, _ := AppendJSON(nil, &f, false)
	full := c.AppendDetails(append([]byte(nil), plain...), &f)
	require.True(t, json.Valid(full), "%s", full)
	require.Equal(t, string(plain[:len(plain)-1]), string(full[:len(plain)-1]))
	var result struct{ Details json.RawMessage }
	require.NoError(t, json.Unmarshal(full, &result))
	require.Equal(t, `,"details":`+string(result.Details)+"}", string(full[len(plain)-1:]))
	require.NoError(t, json.Unmarshal(result.Details, &d))
	requireMembers(t, result.Details)
	return d
}

// requireMembers requires an object to have the members of details, in order.
func requireMembers(t testing.TB, object json.RawMessage) {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(object, &members))
	want := "{"
	for _, name := range []string{"refusal", "canonical", "canonical_rule", "role_evidence", "provider_evidence", "typo_evidence", "versions", "form", "exchange"} {
		want += fmt.Sprintf("%q:%s,", name, members[name])
	}
	require.Equal(t, want[:len(want)-1]+"}", string(object))
}

// TestSentencesFit checks that maxSentence is enough for every reason with the
// longest character and number, so that details allocate nothing.
func TestSentencesFit(t *testing.T) {
	for r := range catalogue {
		for _, email := range []string{"\U000E0001", "\x00", "\"", "\\", "\xff", "a"} {
			sentence := Refusal{Reason: Reason(r), Excess: 1 << 20}.AppendSentence(nil, []byte(email))
			require.Less(t, len(sentence), maxSentence)
		}
	}
}

func TestDetailsOfVersions(t *testing.T) {
	d := detailsOf(t, New(lists.Default()), "x@example.org")
	require.Equal(t, Version, d.Versions.Engine)
	require.Equal(t, lists.Default().Version(), d.Versions.Lists)
	require.Equal(t, ModelVersion(), d.Versions.Model)
}

// TestDetailsDoNotAllocate checks details of each kind but those of a misspelling,
// beside the plain path.
func TestDetailsDoNotAllocate(t *testing.T) {
	c, buffer := New(lists.Default()), make([]byte, 0, 8<<10)
	for _, email := range []string{"jane.doe+tag@gmail.com", "tag@jane.fastmail.com", "support@example.org", "a\"b@c", "x@mailinator.com"} {
		input := []byte(email)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			f := c.Check(input)
			json, _ := AppendJSON(buffer, &f, false)
			c.AppendDetails(json, &f)
		}), email)
	}
}

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
		requireMailbox(t, c, email)
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

// requireMailbox requires the canonical form of email to be valid, and its own
// canonical form by the same rule. Without a check, email and its normalized form have it too.
func requireMailbox(t testing.TB, c *Checker, email string) {
	t.Helper()
	d := detailsOf(t, c, email)
	facts := c.Check([]byte(email))
	checked := facts.Clone()
	normalized, refusal := c.Normalize([]byte(email))
	require.Equal(t, checked.Refusal, refusal, "%q", email)
	require.Equal(t, string(checked.Normalized), string(normalized), "%q", email)
	if d.Canonical == nil {
		require.Nil(t, d.CanonicalRule, "%q", email)
		require.NotNil(t, d.Refusal, "%q", email)
		return
	}
	require.Equal(t, *d.Canonical, string(c.AppendCanonical(nil)), "%q", email)
	c.Normalize(checked.Normalized)
	require.Equal(t, *d.Canonical, string(c.AppendCanonical(nil)), "%q", email)
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
