package core

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/lists"
)

func TestAlias(t *testing.T) {
	checker := New(lists.Default())
	for email, alias := range map[string]bool{
		"jane@example.com":            false,
		"jane+news@example.com":       true,
		"jane+@example.com":           true,
		"+news@example.com":           false, // no text before it
		"a++b@example.com":            true,
		`"jane+news"@example.com`:     true, // the same local part
		`"+news"@example.com`:         false,
		`"jane doe+news"@example.com`: true,
		`"\+news"@example.com`:        false,
		"j\u00f6rg+x@example.com":     true,
		"jane\uff0bnews@example.com":  false, // a full-width plus is an ordinary character
		"(a+b)jane@example.com":       false,
		"jane@a+b":                    false,
	} {
		facts := checker.Check([]byte(email))
		require.Equal(t, alias, facts.Alias, email)
	}
}

func TestASCII(t *testing.T) {
	checker := New(lists.Default())
	for email, ascii := range map[string]bool{
		"":                             true,
		"jane@example.com":             true,
		"not an address":               true,
		"\x00\x7f":                     true,
		"jane@xn--bcher-kva.example":   true,
		"(caf\u00e9)jane@example.com":  false,
		"jane@b\u00fccher.example":     false,
		"jane@example.com\xff":         false,
		"12345678\u00e912345678":       false,
		"1234567\u00e9":                false,
		"jane\u212a@example.com":       false, // although its normalized form is ASCII
		"jane.doe@mail.example.com":    true,
		"jane@a.b.c.d.e.f.g.\u00e9.de": false,
	} {
		require.Equal(t, ascii, checker.Check([]byte(email)).ASCII, "%+q", email)
	}
}

// The form of a throw-away service counts at a domain that could be its newest.
func TestGenerated(t *testing.T) {
	checker := New(lists.Default())
	for email, want := range map[string]bool{
		"vadoke4821@acme-hotel.de":       true,
		"Vadoke4821+x@acme-hotel.de":     true,
		"vadoke4821@gmail.com":           false, // a provider's
		"vadoke4821@mailinator.com":      false, // disposable as it is
		"vadoke4821@gmial.com":           false, // a misspelled provider's
		"vadoke4821@noreply.example.org": false, // a machine's
		"vadoke4821@[192.0.2.1]":         false,
		"marina1985@acme-hotel.de":       false,
		"vadoke482@acme-hotel.de":        false,
	} {
		f := checker.Check([]byte(email))
		require.Equal(t, want, f.Generated, email)
		require.Equal(t, want, f.Gibberish >= GeneratedScore, email)
		require.Equal(t, want, checker.Form(&f)&FormGenerated != 0, email)
	}
}

// TestCheckRefused: a refused address has no facts but email, ascii and the
// refusal.
func TestCheckRefused(t *testing.T) {
	checker := New(lists.Default())
	checker.Check([]byte("support+x@mailinator.com")) // must not affect the next check
	facts := checker.Check([]byte("support+x@mailinator..com"))
	require.Equal(t, Facts{
		Email: []byte("support+x@mailinator..com"), ASCII: true,
		Refusal: Refusal{Reason: domainTwoDots, Offset: 21},
	}, facts)
}

func TestCheckAllocatesNothing(t *testing.T) {
	checker := New(lists.Default())
	out := make([]byte, 0, 4096)
	for _, v := range vectors(t) {
		email := []byte(v.Email)
		require.Zero(t, testing.AllocsPerRun(10, func() { // of one run, an allocation by the runtime would count
			facts := checker.Check(email)
			out, _ = AppendJSON(out[:0], &facts, true)
			out = facts.Refusal.AppendSentence(out[:0], email)
		}), "%+q", v.Email)
	}
}

// TestCheckOwnsItsFacts: the facts of goroutines that run at once are those of a Checker
// of their own, and later checks do not change them.
func TestCheckOwnsItsFacts(t *testing.T) {
	list := vectors(t)
	got := make([]Facts, len(list))
	var group sync.WaitGroup
	for part := range 8 {
		group.Go(func() {
			for n := part; n < len(list); n += 8 {
				got[n] = Check(list[n].Email)
			}
		})
	}
	group.Wait()
	checker := New(lists.Default())
	for n, v := range list {
		want := checker.Check([]byte(v.Email))
		require.Equal(t, want, got[n], "%+q", v.Email)
		require.Equal(t, string(want.JSON()), string(got[n].JSON()))
	}
}

// TestCloneKeepsNil: what is absent remains absent, and appending to one part does not
// change another.
func TestCloneKeepsNil(t *testing.T) {
	refused := Check("jane.@example.org")
	require.Nil(t, refused.Normalized)
	require.Nil(t, refused.Typo)
	facts := Check("jane@gmial.com")
	before := slices.Clone(facts.Domain)
	facts.LocalPart = append(facts.LocalPart, "overwrites?"...)
	require.Equal(t, string(before), string(facts.Domain))
}

func TestExplain(t *testing.T) {
	for _, email := range []string{"jane@gmial.com", "support@example.org", "jane.@example.org", "", "\xff@example.org"} {
		checker := New(lists.Default())
		facts := checker.Check([]byte(email))
		want, _ := AppendJSON(nil, &facts, false)
		require.Equal(t, string(checker.AppendDetails(want, &facts)), string(Explain(email)))
		require.True(t, json.Valid(Explain(email)))
	}
}

func TestWhy(t *testing.T) {
	valid, refused := Check("jane@example.org"), Check("jane")
	require.Empty(t, valid.Why())
	require.Empty(t, valid.Suggestion())
	require.Contains(t, refused.Why(), "@")
	long := Check(strings.Repeat("a", 2<<20) + "@example.org")
	require.False(t, long.Valid)
	require.Equal(t, "address_too_long", long.Refusal.Reason.Code())
}

// TestCheckAllocates limits what the simple function allocates: the copies of the input
// and of the facts.
func TestCheckAllocates(t *testing.T) {
	Check("jane@example.org")
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { Check("jane@example.org") }), 2.0)
}

// TestListedDomains: no domain in a list is a misspelling, and none has an unknown top-level
// domain, except below .yu and .an, which left the root zone in 2010 and 2015.
func TestListedDomains(t *testing.T) {
	c, n := New(lists.Default()), 0
	for _, file := range []string{"known.txt", "near.txt", "allow.txt", "public.txt", "relay.txt", "typo-targets.txt"} {
		table, err := os.ReadFile("../lists/" + file)
		require.NoError(t, err)
		for line := range strings.Lines(string(table)) {
			fields := strings.Fields(line)
			if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
				continue
			}
			n++
			domain := strings.TrimPrefix(fields[0], "*.")
			f := c.Check([]byte("someone@" + domain))
			require.Empty(t, string(f.Typo), domain)
			if !strings.HasSuffix(domain, ".an") && !strings.HasSuffix(domain, ".yu") {
				require.Zero(t, c.Form(&f)&(FormUnknownTLD|FormSingleLabel), domain)
			}
		}
	}
	require.Greater(t, n, 4000)
}
