package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/result"
)

// withModule adds the module that the tests build to a command line.
func withModule(t testing.TB, args ...string) []string {
	return append(args, "--module", origintest.ModuleFile(t), "--cache-dir", moduletest.CacheDir())
}

// extraFile writes a file of --lists-extra.
func extraFile(t testing.TB, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "extra.txt")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// lists why has the facts of details.provider_evidence, with the lists that the service
// would use.
func TestListsWhyIsTheEvidence(t *testing.T) {
	t.Parallel()
	domains := strings.Fields("yopmail.com a.b.mailinator.com gmail.com mozmail.com x.mozmail.com ibm.com 00jac.com example.org gmial.com " +
		"burner.example a.burner.example münchen.example xn--mnchen-3ya.example a.partner.example users.noreply.github.com d.bulk.example")
	file := filepath.Join(t.TempDir(), "lists.blob")
	require.NoError(t, os.WriteFile(file, bulkLists(t), 0o600))
	extra := extraFile(t, "[disposable]\nburner.example\nmünchen.example\n[known]\n*.partner.example\nyopmail.com\n")
	for _, flags := range [][]string{nil, {"--lists-extra", extra}, {"--lists", file}, {"--lists", file, "--lists-extra", extra}} {
		out, problem, _ := operator(t, withModule(t, append(append([]string{"lists", "why", "--to", "json"}, flags...), domains...)...)...)
		var reasons []shownReason
		require.NoError(t, json.Unmarshal([]byte(out), &reasons), problem)
		require.Len(t, reasons, len(domains))
		args := append([]string{"check", "--offline", "--details", "--to", "ndjson"}, flags...)
		for _, domain := range domains {
			args = append(args, "jane@"+domain)
		}
		checked, problem, code := operator(t, withModule(t, args...)...)
		require.Zero(t, code, problem)
		for n, line := range strings.Split(strings.TrimSpace(checked), "\n") {
			r, err := result.Parse([]byte(line))
			require.NoError(t, err)
			s := reasons[n]
			require.Equal(t, r.TypoSuggestion, deref(s.TypoSuggestion), domains[n])
			e := r.Details.Provider
			if e == nil {
				require.Nil(t, s.Entry, domains[n])
				require.Nil(t, s.Class, domains[n])
				continue
			}
			names := []string{}
			for _, source := range s.Sources {
				names = append(names, source.Name)
			}
			require.Equal(t, *e, result.ProviderEvidence{Entry: *s.Entry, Class: *s.Class, Subdomains: *s.Subdomains, Sources: names}, domains[n])
			require.Contains(t, line, `"lists":"`+s.Lists+`"`)
		}
	}
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// What people read, and the exit code.
func TestListsWhy(t *testing.T) {
	t.Parallel()
	extra := extraFile(t, "[disposable]\nmünchen.example\n[public]\nwebmail.example\n")
	for _, c := range []struct {
		domain string
		code   int
		lines  []string
	}{
		{"00jac.com", 0, []string{"class +disposable", "entry +00jac.com, covers all names below its own too", "first day +2026-06-14 or earlier",
			`.* +npm:fakefilter [\d.]+, BSD-3-Clause, this version fetched 20\d\d-\d\d-\d\d`, ` +github:castle/disposable-email-domains .*, carried it on 2026-06-14`}},
		{"GMAIL.com.", 0, []string{"domain +gmail.com", "class +public", "entry +gmail.com, covers no subdomain", "first day +unknown", "sources +addrspec/public.txt"}},
		{"a.b.mailinator.com", 0, []string{"domain +a.b.mailinator.com", "entry +mailinator.com, a parent, which covers all names below its own"}},
		{"gmial.com", 3, []string{"class +none: it has no entry", "typo +probably a misspelling of gmail.com"}},
		{"example.org", 3, []string{"class +none: neither it nor a parent that covers it has an entry"}},
		{"münchen.example", 0, []string{"domain +münchen.example", "entry +xn--mnchen-3ya.example, covers all", "sources +operator:lists-extra"}},
		{"xn--mnchen-3ya.example", 0, []string{"domain +xn--mnchen-3ya.example", "entry +xn--mnchen-3ya.example, covers all"}},
		{"webmail.example", 0, []string{"class +public", "first day +unknown", "sources +operator:lists-extra"}},
	} {
		out, problem, code := operator(t, withModule(t, "lists", "why", c.domain, "--lists-extra", extra)...)
		require.Equal(t, c.code, code, "%s: %s", c.domain, problem)
		for _, line := range append(c.lines, `lists +20\d\d\.\d\d\.\d\d-[0-9a-f]{8}`) {
			require.Regexp(t, "(?m)^"+line, out, c.domain)
		}
	}
	out, problem, code := operator(t, withModule(t, "lists", "why", "gmail.com", "example.org", "yopmail.com")...)
	require.Equal(t, 3, code)
	require.Contains(t, problem, "no entry for 1 of 3 domains")
	require.Equal(t, 2, strings.Count(out, "\n\n"), "a paragraph each")
}

func TestListsWhyRefuses(t *testing.T) {
	t.Parallel()
	for domain, words := range map[string]string{
		"jane@yopmail.com": "domain 1 of 1: this is an address: give only its domain, which is behind the @",
		"@":                "this is an address",
		"a..b":             "this is not a domain: the domain has two dots in a row",
		"a-.example":       "this is not a domain",
		"":                 "this is not a domain",
		"a b.example":      "this is not a domain",
		"a\x00.example":    "this is not a domain",
		"[192.0.2.1]":      "this is the address of a host",
	} {
		out, problem, code := operator(t, withModule(t, "lists", "why", domain)...)
		require.Equal(t, 2, code, "%q", domain)
		require.Contains(t, problem, words, "%q", domain)
		require.NotContains(t, problem, "jane")
		require.Empty(t, out)
	}
	_, problem, code := operator(t, "lists", "why")
	require.Equal(t, 2, code)
	require.Contains(t, problem, "domain")
	for _, flag := range []string{"--lists", "--lists-extra"} {
		_, problem, code = operator(t, withModule(t, "lists", "why", "gmail.com", flag, filepath.Join(t.TempDir(), "none"))...)
		require.Equal(t, 1, code)
		require.Contains(t, problem, flag+": open ")
	}
}
