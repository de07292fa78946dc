package core

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/addrspec/addrspec/lists"
	"github.com/stretchr/testify/require"
)

// TestTypoListedDomains: no domain in a list is a misspelling.
func TestTypoListedDomains(t *testing.T) {
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
			require.Empty(t, string(c.Check([]byte("someone@"+domain)).Typo), domain)
		}
	}
	require.Greater(t, n, 1000)
}

// TestTypoProviders: a misspelling is no provider of any class, and its
// suggestion is a public provider.
func TestTypoProviders(t *testing.T) {
	c := New(lists.Default())
	for _, domain := range []string{"gmial.com", "hotmail.con", "yaho.com.mx", "GMIAL.COM", "outlok.com"} {
		f := c.Check([]byte("someone@" + domain))
		require.NotEmpty(t, f.Typo, domain)
		require.False(t, f.Disposable || f.Public || f.Relay, domain)
		meant := bytes.Clone(f.Typo)
		f = c.Check(append([]byte("someone@"), meant...))
		require.True(t, f.Public, "%s", meant)
		require.Nil(t, f.Typo)
	}
}

// TestTypoWithoutDomain: address literals and refused addresses have no typo.
func TestTypoWithoutDomain(t *testing.T) {
	c := New(lists.Default())
	for _, email := range []string{"someone@[192.0.2.1]", "someone@gmial..com", "gmial.com", "a..b@gmial.com"} {
		require.Nil(t, c.Check([]byte(email)).Typo, email)
	}
}
