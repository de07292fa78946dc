package command

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/wasm/result"
)

// details returns the service's result for an address, with details.
func (s *instance) details(t *testing.T, key, address string) (r result.Result) {
	t.Helper()
	request, _ := http.NewRequest(http.MethodGet, "http://"+s.hostPort+"/v1/email/"+address+"?details=true", nil)
	request.Header.Set("X-API-Key", key)
	response, err := httpClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.NoError(t, json.NewDecoder(response.Body).Decode(&r))
	return r
}

const extraRows = "[known]\ngmial.com\nmailinator.com\n[disposable]\nburner.example\nhotmial.com\n[public]\nwebmail.example\n[relay]\n*.forward.example\n"

// requireRows checks that results are those of extraRows.
func requireRows(t *testing.T, of func(address string) result.Result) {
	t.Helper()
	for domain, class := range map[string]string{
		"gmial.com": "known", "mailinator.com": "known", "burner.example": "disposable", "a.burner.example": "disposable",
		"hotmial.com": "disposable", "webmail.example": "public", "a.forward.example": "relay",
	} {
		r := of("jane@" + domain)
		require.Equal(t, class, r.Details.Provider.Class, domain)
		require.Equal(t, []string{"operator:lists-extra"}, r.Details.Provider.Sources, domain)
		require.Equal(t, []bool{class == "disposable", class == "public", class == "relay", false}, []bool{r.Disposable, r.Public, r.Relay, r.Typo}, domain)
		require.Empty(t, r.TypoSuggestion, domain)
	}
	require.True(t, of("jane@yopmail.com").Disposable)
	require.Equal(t, "gmail.com", of("jane@gmaul.com").TypoSuggestion)
}

// A running service adds the rows of its operator, follows their file, and keeps them when
// it takes over lists from its feed. A wrong file changes nothing.
func TestExtraRowsOfTheService(t *testing.T) {
	t.Parallel()
	f, extra := newFeed(t), extraFile(t, extraRows)
	p := launch(t, nil, "--dns", contract.Serve(t), "--lists-extra", extra, "--lists-url", f.URL, "--lists-key", f.key(), "--lists-interval", "1s")
	key := p.unlimitedKey(t)
	requireRows(t, func(address string) result.Result { return p.details(t, key, address) })
	require.Equal(t, 6.0, p.metric(t, "addrspec_lists_extra_rows"))

	release := f.publish(t, bulkLists(t))
	require.Eventually(t, func() bool { return p.isDisposable(t, key, "jane@"+bulkDomain) }, hung, 50*time.Millisecond, "%s", p.log)
	requireRows(t, func(address string) result.Result { return p.details(t, key, address) })
	require.Contains(t, listsInfoLine.FindString(p.metrics(t)), `from="feed",signed="true",version="`+release.Version+`"`, "the version that was signed")

	replace(t, extra, []byte("[known]\n"+bulkDomain+"\n"))
	require.Eventually(t, func() bool { return !p.isDisposable(t, key, "jane@"+bulkDomain) }, hung, 50*time.Millisecond, "%s", p.log)
	require.Equal(t, "gmail.com", p.details(t, key, "jane@gmial.com").TypoSuggestion)

	replace(t, extra, []byte("[known]\njane@partner.example\n"))
	require.NoError(t, p.Signal(syscall.SIGHUP))
	require.Eventually(t, func() bool { return p.log.Contains("the old ones remain in use") }, hung, 10*time.Millisecond)
	require.False(t, p.isDisposable(t, key, "jane@"+bulkDomain))
	require.NotContains(t, p.wholeLog(t), "jane")
	require.NotContains(t, p.wholeLog(t), "nothing to reload")

	replace(t, extra, nil)
	require.NoError(t, p.Signal(syscall.SIGHUP))
	require.Eventually(t, func() bool { return p.isDisposable(t, key, "jane@"+bulkDomain) }, hung, 50*time.Millisecond)
	require.NoError(t, p.Terminate(hung))
}

// The other commands add the rows too.
func TestExtraRowsOfCommands(t *testing.T) {
	t.Parallel()
	extra := extraFile(t, extraRows)
	requireRows(t, func(address string) result.Result {
		out, problem, code := operator(t, withModule(t, "check", "--offline", "--details", "--to", "ndjson", "--lists-extra", extra, address)...)
		require.Zero(t, code, problem)
		r, err := result.Parse([]byte(out))
		require.NoError(t, err)
		return r
	})
	session, _ := connectMCP(t, "--offline", "--lists-extra", extra)
	structured, _, wrong := call(t, session, "check_email", map[string]any{"email": "jane@burner.example"})
	require.False(t, wrong)
	require.Contains(t, structured, `"disposable":true`)

	own, _, code := operator(t, withModule(t, "version", "--to", "json")...)
	require.Zero(t, code)
	with, _, code := operator(t, withModule(t, "version", "--to", "json", "--lists-extra", extra)...)
	require.Zero(t, code)
	require.NotEqual(t, own, with, "the lists that decide are others")
}

// A wrong file is an error of every command, with file, line and what to do.
func TestExtraRowsThatAreRefused(t *testing.T) {
	t.Parallel()
	extra := extraFile(t, "[known]\npartner\n")
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0", "--dns", "127.0.0.1:1", "--database", "sqlite:" + t.TempDir() + "/a.db"},
		{"check", "--offline", "jane@example.org"}, {"mcp", "--offline"}, {"version"}, {"lists", "why", "gmail.com"},
	} {
		_, problem, code := operator(t, append(withModule(t, args...), "--lists-extra", extra)...)
		require.Equal(t, 1, code, args)
		require.Contains(t, problem, "--lists-extra: "+extra+":2: this is no domain of at least two labels: write one such as", args)
	}
	require.NoError(t, os.Chmod(extra, 0o666))
	out, _, code := operator(t, withModule(t, "doctor", "--database", emptyLedger(t), "--dns", contract.Serve(t), "--dns-with-mx", "mail.example", "--dns-without-mx", "missing.example", "--lists-extra", extra)...)
	require.Equal(t, 1, code)
	require.Regexp(t, `(?m)^module +WRONG .*:2: this is no domain`, out)
	require.Regexp(t, `(?m)^files +WRONG .*extra\.txt`, out)
}

// The file that the handbook shows has the classes that it says.
func TestExtraRowsOfTheHandbook(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../deploy/lists.md")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(page), "```\n# customers of ours\n")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "```")
	var classes []string
	out, problem, code := operator(t, withModule(t, "lists", "why", "partner.example", "a.corp.example", "a.burner.example", "webmail.example", "forward.example",
		"--to", "json", "--lists-extra", extraFile(t, text))...)
	require.Zero(t, code, problem)
	var reasons []shownReason
	require.NoError(t, json.Unmarshal([]byte(out), &reasons))
	for _, r := range reasons {
		classes = append(classes, *r.Class)
	}
	require.Equal(t, []string{"known", "known", "disposable", "public", "relay"}, classes)
}
