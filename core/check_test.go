package core

import (
	"testing"

	"github.com/addrspec/addrspec/lists"
	"github.com/stretchr/testify/require"
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
		require.Zero(t, testing.AllocsPerRun(1, func() {
			facts := checker.Check(email)
			out, _ = AppendJSON(out[:0], &facts, true)
			out = facts.Refusal.AppendSentence(out[:0], email)
		}), "%+q", v.Email)
	}
}
