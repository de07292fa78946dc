package signuphook

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

var engineOfTests struct {
	sync.Once
	*host.Engine
}

// testEngine returns the engine of all tests.
func testEngine(t testing.TB) *host.Engine {
	e := &engineOfTests
	e.Do(func() {
		var err error
		e.Engine, err = host.New(context.Background(), moduletest.Bytes(t), host.Options{Size: 2, CacheDir: moduletest.CacheDir()})
		require.NoError(t, err)
	})
	return e.Engine
}

// lookups counts lookups and has the same result for each.
type lookups struct {
	found   host.Lookup
	err     error
	domains []string
	address bool // the last one was for an address record too
	silent  bool // none ends before its context
}

func (l *lookups) lookUp(ctx context.Context, domain string, address bool) (host.Lookup, error) {
	l.domains, l.address = append(l.domains, domain), address
	if l.silent {
		<-ctx.Done()
		return l.found, ctx.Err()
	}
	return l.found, l.err
}

var (
	withMX    = host.Lookup{MX: true, Exchanges: "mx.example.net"}
	burner    = host.Lookup{MX: true, Exchanges: "mx.mailinator.com"}
	withoutMX = host.Lookup{AddressRecord: host.AddressPresent}
	noMail    = host.Lookup{AddressRecord: host.AddressAbsent}
	unknown   = host.Lookup{} // neither MX nor known whether there is an address record
	errDNS    = errors.New("the resolver is away")
)

// decideOrFail returns the verdict on an address, and decide requires one.
func decideOrFail(t testing.TB, h *Hook, email string, l *lookups) (Verdict, error) {
	t.Helper()
	view := testEngine(t).View()
	facts, err := view.Check(t.Context(), nil, email, 0)
	require.NoError(t, err)
	return h.Decide(t.Context(), view, email, &facts, l.lookUp)
}

func decide(t testing.TB, h *Hook, email string, l *lookups) Verdict {
	t.Helper()
	v, err := decideOrFail(t, h, email, l)
	require.NoError(t, err, email)
	return v
}

// policyHook returns a hook with a policy.
func policyHook(t testing.TB, document string) *Hook {
	t.Helper()
	return testHook(t, map[string]any{"policy": json.RawMessage(document)})
}

// A lookup is made only if it may change the decision. If it fails, a policy with no_mx or
// no_mail does not decide; for disposable the lists do.
func TestLookups(t *testing.T) {
	const other = "jane.doe@example.org"
	for _, c := range []struct {
		policy, email  string
		asked, address bool
		decision       Decision
		reason         Reason
		fails          bool // without DNS
	}{
		{`{}`, other, false, false, Allow, "", false},
		{`{"block":{"reasons":["role","gibberish","quoted"]}}`, other, false, false, Allow, "", false},
		{`{"block":{"reasons":["disposable"]}}`, other, true, false, Allow, "", false},
		{`{"review":{"reasons":["disposable"]}}`, "jane.doe@gmail.com", false, false, Allow, "", false},
		{`{"review":{"reasons":["disposable"]}}`, "jane.doe@gmial.com", false, false, Allow, "", false},
		{`{"block":{"reasons":["no_mx"]}}`, other, true, false, Deny, "no_mx", true},
		{`{"review":{"reasons":["no_mail"]}}`, other, true, true, Review, "no_mail", true},
		{`{"review":{"reasons":["role","no_mx"]}}`, "info@example.org", true, false, Review, "role", true},
		{`{"block":{"reasons":["no_mx"]},"allow":{"domains":["example.org"]}}`, other, false, false, Allow, Domain, false},
		{`{"block":{"reasons":["no_mx"]},"review":{"domains":["*.org"]}}`, other, false, false, Review, Domain, false},
		{`{"block":{"reasons":["no_mx","disposable"]}}`, "jane.doe@mailinator.com", false, false, Deny, "disposable", false},
		{`{"block":{"reasons":["no_mx"]}}`, "jane..doe@example.org", false, false, Deny, Invalid, false},
		{`{"block":{"reasons":["no_mx"]}}`, "jane.doe@[192.0.2.1]", false, false, Deny, "no_mx", false},
		{`{"block":{"reasons":["no_mail"]}}`, "jane.doe@[192.0.2.1]", false, false, Allow, "", false},
		{`{"block":{"exchanges":["*.example.net"]}}`, other, true, false, Allow, "", true},
		{`{"allow":{"exchanges":["*.example.net"]},"block":{"reasons":["disposable"]}}`, "jane.doe@mailinator.com", true, false, Deny, "disposable", true},
		{`{"block":{"exchanges":["*.example.net"]},"allow":{"addresses":["jane.doe@example.org"]}}`, other, false, false, Allow, Address, false},
	} {
		h, l := policyHook(t, c.policy), &lookups{found: noMail}
		v := decide(t, h, c.email, l)
		require.Equal(t, Verdict{decision: c.decision, reason: c.reason}, v, c)
		require.Equal(t, c.asked, len(l.domains) == 1, c)
		require.Equal(t, c.address, l.address, c)
		v, err := decideOrFail(t, h, c.email, &lookups{err: errDNS})
		if !c.fails {
			require.NoError(t, err)
			require.Equal(t, c.decision, v.decision, c)
			continue
		}
		var failed *LookupError
		require.ErrorAs(t, err, &failed)
		require.ErrorIs(t, err, errDNS)
	}
	silent := policyHook(t, `{"block":{"reasons":["no_mx"]}}`)
	silent.Timeout = time.Millisecond
	_, err := decideOrFail(t, silent, other, &lookups{silent: true})
	require.ErrorIs(t, err, context.DeadlineExceeded, "the hook's timeout")
	for _, c := range []struct {
		reasons string
		found   host.Lookup
		want    Verdict
	}{
		{`"disposable"`, burner, Verdict{decision: Deny, reason: "disposable"}},
		{`"no_mail"`, withoutMX, Verdict{decision: Allow}}, // mail goes to its address record
		{`"no_mail"`, unknown, Verdict{decision: Allow}},
		{`],"exchanges":["mx.example.net"`, withMX, Verdict{decision: Deny, reason: Exchange}},
		{`],"exchanges":["mx.example.net"`, burner, Verdict{decision: Allow}},
		{`"no_mx"],"addresses":["jane.doe@example.org"`, withMX, Verdict{decision: Deny, reason: Address}},
		{`"no_mail","no_mx"`, unknown, Verdict{decision: Deny, reason: "no_mx"}},
	} {
		h := policyHook(t, `{"block":{"reasons":[`+c.reasons+`]}}`)
		require.Equal(t, c.want, decide(t, h, other, &lookups{found: c.found}), c.reasons)
	}
}

// The format generic has the mailbox's identity, also if on_error decides. The others have no place for it, and
// their calls do not have the module write the details.
func TestCanonical(t *testing.T) {
	for format, want := range map[string]map[string]string{
		"generic":         {"J.Doe+x@googlemail.com": "jdoe@gmail.com", "j.doe+x@example.org": "j.doe+x@example.org", "j..doe@gmail.com": ""},
		"supabase":        {"J.Doe+x@googlemail.com": ""},
		"supabase-mailer": {"J.Doe+x@googlemail.com": ""},
	} {
		h := testHook(t, map[string]any{"format": format, "on_error": "allow"})
		for email, canonical := range want {
			call := Call{Email: email}
			facts, err := h.Check(t.Context(), testEngine(t).View(), &call)
			require.NoError(t, err)
			require.Equal(t, Call{Email: email, Canonical: canonical}, call)
			require.Equal(t, format == "generic", strings.Contains(string(facts.JSON), `"canonical"`))
			require.Equal(t, canonical != "", strings.Contains(string(h.Response(h.UncheckedVerdict(), call)), `"canonical":"`+canonical+`"}`))
		}
	}
}

// A reason is reported without role and threshold, by which its message is found.
func TestReasonsOfDocuments(t *testing.T) {
	for document, want := range map[string]string{
		`{"block":{"reasons":["role:general"]}}`:       `{"decision":"deny","reasons":["role"],"flags":[],"message":"Please use a personal email address.","suggestion":null,"canonical":null}`,
		`{"review":{"reasons":["role:general"]}}`:      `{"decision":"allow","reasons":[],"flags":["role"],"message":null,"suggestion":null,"canonical":null}`,
		`{"block":{"domains":["*.example.org"]}}`:      `{"decision":"deny","reasons":["domain"],"flags":[],"message":"Please use another email address.","suggestion":null,"canonical":null}`,
		`{"review":{"domains":["example.org"]}}`:       `{"decision":"allow","reasons":[],"flags":["domain"],"message":null,"suggestion":null,"canonical":null}`,
		`{"allow":{"domains":["example.org"]}}`:        `{"decision":"allow","reasons":[],"flags":[],"message":null,"suggestion":null,"canonical":null}`,
		`{"review":{"reasons":["gibberish>=0.01"]}}`:   `{"decision":"allow","reasons":[],"flags":["gibberish"],"message":null,"suggestion":null,"canonical":null}`,
		`{"review":{"reasons":["typo","role:sales"]}}`: `{"decision":"allow","reasons":[],"flags":[],"message":null,"suggestion":null,"canonical":null}`,
	} {
		email := "info@example.org"
		if strings.Contains(document, "gibberish") {
			email = "xqzvkjwpth@example.org"
		}
		h := policyHook(t, document)
		require.Equal(t, want, string(h.Response(decide(t, h, email, &lookups{found: withMX}), Call{})), document)
	}
	h := policyHook(t, `{"block":{"reasons":["no_mx","typo"]}}`)
	require.Contains(t, string(h.Response(decide(t, h, "jane@gmial.com", &lookups{found: noMail}), Call{})), `["typo"]`, "it is denied without a lookup")
	require.Contains(t, string(h.Response(decide(t, h, "jane@gmial.com", &lookups{found: noMail}), Call{})), `"suggestion":"gmail.com"`)
}

// Every reason that the module knows has an English message, which a file can replace, and
// is in the handbook and the description.
func TestEveryReasonHasAMessage(t *testing.T) {
	handbook, err := os.ReadFile("../deploy/hooks.md")
	require.NoError(t, err)
	description, err := os.ReadFile("../api/openapi-hooks.json")
	require.NoError(t, err)
	_, err = testEngine(t).NewPolicy(t.Context(), `{"block":{"reasons":["zzzzzzzzzzzz"]}}`)
	_, list, found := strings.Cut(err.Error(), "write one of ")
	require.True(t, found, err)
	known := strings.Split(list, ", ")
	require.Greater(t, len(known), 15)
	for _, reason := range append(known, "invalid", "address", "domain", "exchange", "no_email", "unchecked") {
		require.NotEmpty(t, defaultMessages[Reason(reason)], reason)
		require.Contains(t, string(handbook), "`"+reason+"`")
		require.GreaterOrEqual(t, strings.Count(string(description), "                \""+reason+"\""), 2, reason)
	}
	require.Len(t, defaultMessages, len(known)+6, "no other one")
}

// Every mistake in a policy has an error with file, hook and place. core/policy tests what the
// module says.
func TestPolicyErrors(t *testing.T) {
	dir := testDirectory(t)
	load := func(policy string) error {
		name := write(t, dir, "hooks.json", hookText(map[string]any{"policy": json.RawMessage(policy)}))
		_, err := Load(t.Context(), testEngine(t), filepath.Join(dir, name))
		return err
	}
	file := func(name, text string) string { return `"` + write(t, dir, name, text) + `"` }
	domains := func(n int) string {
		return `{"block":{"domains":["` + strings.Repeat(`a.example","`, n-1) + `a.example"]}}`
	}
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	deep := strings.Repeat(`{"block":`, 5000) + "1" + strings.Repeat("}", 5000)
	for want, list := range map[string][]string{
		`"policy": block.reasons[2]: "disposible" is no reason`: {`{"block":{"reasons":["typo","role","disposible"]}}`},
		"duplicate":                             {`{"block":{},"block":{}}`},
		`"policy" must be an object`:            {`[]`, `null`, `5`},
		"no such file":                          {`"missing.json"`},
		"is not a regular file":                 {`"."`, `"pipe"`},
		dir + "/syntax.json: line 2, column 12": {file("syntax.json", "{\n \"block\": {,}}")},
		dir + `/reason.json: block.reasons[0]: "spam" is no`: {file("reason.json", `{"block": {"reasons": ["spam"]}}`)},
		"more than 10000 domains":                            {file("many.json", domains(10_001))},
		"huge.json is over 4.0 MiB":                          {file("huge.json", strings.Repeat(" ", 8<<20))},
		"deep.json: ":                                        {file("deep.json", deep)},
	} {
		for _, policy := range list {
			err := load(policy)
			require.ErrorContains(t, err, want, "%.100s", policy)
			if want != "duplicate" { // the whole file is no JSON
				require.ErrorContains(t, err, filepath.Join(dir, "hooks.json")+`: hook 1 ("signup"): `)
			}
			require.Less(t, len(err.Error()), 600)
		}
	}
	require.NoError(t, load(file("limit.json", domains(10_000))), "the longest list")
}

// The file of the handbook is valid.
func TestHandbookFile(t *testing.T) {
	handbook, err := os.ReadFile("../deploy/hooks.md")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(handbook), "```json\n")
	text, _, end := strings.Cut(text, "```")
	require.True(t, found && end)
	_, err = parse(t.Context(), testEngine(t), []byte(strings.Replace(text, "signup.secret", "secret", 1)), testDirectory(t))
	require.NoError(t, err)
}
