package command

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// The same file gives the same columns and rows in this process and through a service.
// Package browser compares the page Lists.
func TestCheckHasOneLayout(t *testing.T) {
	t.Parallel()
	dns := contract.Serve(t)
	s := start(t, "--dns", dns)
	key := s.newKey(t)
	for _, list := range origintest.Lists(t, "../check/input/testdata/crossing.json") {
		t.Run(list.Name, func(t *testing.T) {
			file := fileOf(t, list.File, string(list.Content))
			local, problem, code := runCheck(t, nil, file, "--to", "csv", "--offline=false", "--dns", dns)
			require.Contains(t, []int{0, 1}, code, problem)
			through, problem, again := s.checkThrough(t, key, "", file, "--to", "csv")
			require.Equal(t, code, again, problem)
			require.Equal(t, local, through)
		})
	}
}

// A policy of the account by its name, a key's default policy, and the same document in a file
// give the same bytes in each format, also where the file decides about the results of a
// service, and the same counts.
func TestCheckHasTheVerdictsOfTheService(t *testing.T) {
	t.Parallel()
	const document = `{"block": {"domains": ["no-mx.example", "xn--bcher-kva.example"], "reasons": ["disposable", "no_mail"]}, "review": {"reasons": ["no_mx", "role:hr", "gibberish>=0.8", "quoted"]}}`
	dns := contract.Serve(t)
	s := start(t, "--dns", dns)
	none, account := s.limitedKey(t, book.Unlimited)
	signUp := s.policyKey(t, account, "sign-up", document)
	other := s.policyKey(t, account, "other", `{"block": {"domains": ["mail.example"]}}`)
	policy := fileOf(t, "policy.json", document)
	list := fileOf(t, "list.csv", "email\njane@mail.example\nhr@mail.example\na..b@mail.example\njane@mailinator.com\njane@missing.example\njane@servfail.example\njane@[192.0.2.1]\n"+
		"jörg@bücher.example\nxkqjzvwqp@mail.example\n\"\"\"a b\"\"@mail.example\"\njane@address.example\n\n")
	for _, flags := range [][]string{{"--to", "csv"}, {"--to", "table"}, {"--to", "ndjson"},
		{"--to", "ndjson", "--details", "--keep"}} {
		flags = append(flags, "--summary", "json", "--fail-on", "block", list)
		local, summary, code := runCheck(t, nil, append(flags, "--policy", policy, "--offline=false", "--dns", dns)...)
		require.Equal(t, exitVerdict, code, summary)
		counts := []string{`"allow":1,`, `"review":5,`, `"block":4,`}
		for _, count := range counts {
			require.Contains(t, summary, count)
		}
		for name, c := range map[string]struct {
			key  string
			args []string
		}{
			"the key's default":                     {signUp, nil},
			"a name, in place of the key's default": {other, []string{"--policy", "sign-up"}},
			"a file":                                {none, []string{"--policy", policy}},
			"a file, in place of the key's default": {other, []string{"--policy", policy}},
		} {
			through, problem, code := s.checkThrough(t, c.key, "", append(c.args, flags...)...)
			require.Equal(t, exitVerdict, code, "%s: %s", name, problem)
			require.Equal(t, local, through, name)
			for _, count := range counts {
				require.Contains(t, problem, count, name)
			}
		}
	}
}

// A run has the policy to its end with which it began, or none, though the key gets another one
// after the run has asked for it.
func TestKeyChangesItsPolicyDuringARun(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	_, account := s.limitedKey(t, book.Unlimited)
	s.policyKey(t, account, "sign-up", `{"block": {"domains": ["mail.example"]}}`)
	for before, after := range map[string]string{"": "sign-up", "sign-up": ""} {
		key, created, err := s.ledger.CreateKey(t.Context(), account, "key", book.KeyTerms{Policy: before})
		require.NoError(t, err)
		proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: s.hostPort})
		proxy.ModifyResponse = func(r *http.Response) error {
			if r.Request.Method == http.MethodPost {
				return nil
			}
			require.NoError(t, s.ledger.ChangeKey(t.Context(), account, created.ID, book.KeyChange{Terms: &book.KeyTerms{Policy: after}}))
			require.Eventually(t, func() bool { // the service has its own view of the key
				_, body := s.send(t, http.MethodGet, "/v1/email/jane@mail.example", key, "", nil)
				return strings.Contains(body, "verdict") == (after != "")
			}, hung, 20*time.Millisecond)
			return nil
		}
		through := httptest.NewServer(proxy)
		defer through.Close()
		var out, problem strings.Builder
		code := run(t.Context(), []string{"check", "--server", through.URL, "--key", key, "--to", "ndjson"}, streams{strings.NewReader("jane@mail.example\n"), &out, &problem})
		require.Zero(t, code, problem.String())
		require.Equal(t, before != "", strings.Contains(out.String(), `"verdict":{"action":"block"`), out.String())
		require.Equal(t, before != "", strings.Contains(out.String(), "verdict"), out.String())
	}
}
