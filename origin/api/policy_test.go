package api

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/wasm/host"
)

// An office is a server on a real ledger, with an account that has policies.
type office struct {
	*fakes
	t       testing.TB
	ledger  *ledger.Ledger
	account int64
	key     string
}

func newOffice(t testing.TB, policies map[string]string) *office {
	l := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	o := &office{fakes: newFakes(t), t: t, ledger: l}
	o.key, o.account = ledgertest.NewAccountOn(t, l, "owner@example.com", ledger.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Unlimited()})
	o.Ledger = FromLedger(l)
	for name, document := range policies {
		o.set(name, document)
	}
	return o
}

func (o *office) set(name, document string) {
	_, err := o.ledger.SetPolicy(o.t.Context(), o.account, name, document)
	require.NoError(o.t, err)
}

// send sends a batch if body is not "".
func (o *office) send(path, body string) *httptest.ResponseRecorder {
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("X-API-Key", o.key)
	r.Header.Set("Content-Type", contentJSON)
	return o.fakes.send(r)
}

// verdictOf returns the verdict at the end of a single response.
func verdictOf(w *httptest.ResponseRecorder) string {
	_, verdict, _ := strings.Cut(w.Body.String(), `,"verdict":`)
	return strings.TrimSuffix(verdict, "}")
}

const (
	blocksRoles = `{"block": {"reasons": ["role"]}}`
	allowsRoles = `{"allow": {"domains": ["*.example.org"]}, "review": {"reasons": ["role:support"]}}`

	blocked  = `{"action":"block","reason":"role","rule":"block.reasons[0]"}`
	reviewed = `{"action":"review","reason":"role:support","rule":"review.reasons[0]"}`
)

// Policies that disagree decide about the requests that name them, while others are set and
// deleted.
func TestPoliciesOfRequestsNeverMix(t *testing.T) {
	o := newOffice(t, map[string]string{"hard": blocksRoles, "soft": allowsRoles})
	const rounds = 60
	done := make(chan error)
	for client := range 4 {
		go func() {
			name, want := "hard", blocked
			if client%2 == 1 {
				name, want = "soft", reviewed
			}
			for range rounds {
				if got := verdictOf(o.send("/v1/email/support@mail.example?policy="+name, "")); got != want {
					done <- fmt.Errorf("policy %s: %s", name, got)
					return
				}
				body := o.send("/v1/emails", `{"emails":["support@mail.example","help@mail.example"],"policy":"`+name+`"}`).Body.String()
				if strings.Count(body, `"verdict":`+want+`},"error":null}`) != 2 {
					done <- fmt.Errorf("policy %s: %s", name, body)
					return
				}
			}
			done <- nil
		}()
	}
	go func() {
		for n := range rounds {
			o.set("other", fmt.Sprintf(`{"block": {"domains": ["d%d.example"], "reasons": ["role"]}}`, n))
			if err := o.ledger.DeletePolicy(context.Background(), o.account, "other"); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 5 {
		require.NoError(t, <-done)
	}
}

// A request goes on with the policy that it began with, though that is changed or deleted
// while its lookup runs.
func TestRequestKeepsItsPolicy(t *testing.T) {
	o := newOffice(t, map[string]string{"hard": blocksRoles, "soft": blocksRoles})
	change := func(context.Context) (bool, error) {
		o.set("hard", allowsRoles)
		return true, o.ledger.DeletePolicy(t.Context(), o.account, "soft")
	}
	o.resolver.ask["slow.example"] = change
	require.Equal(t, blocked, verdictOf(o.send("/v1/email/support@slow.example?policy=hard", "")))
	require.Equal(t, reviewed, verdictOf(o.send("/v1/email/support@mail.example?policy=hard", "")))
	require.Equal(t, 400, o.send("/v1/email/support@mail.example?policy=soft", "").Code)

	o.set("soft", blocksRoles)
	o.set("hard", blocksRoles)
	body := o.send("/v1/emails", `{"emails":["support@slow.example"],"policy":"soft"}`).Body.String()
	require.Contains(t, body, `"verdict":`+blocked)
	require.Equal(t, 400, o.send("/v1/emails", `{"emails":["support@slow.example"],"policy":"soft"}`).Code)
}

// A document that the module refuses, as one of a later release, gives 500, never a result
// without a verdict. The log does not quote it.
func TestRefusedPolicyIs500(t *testing.T) {
	o := newOffice(t, map[string]string{"later": `{"block": {"reasons": ["secret@mail.example"]}}`})
	for _, w := range []*httptest.ResponseRecorder{o.send("/v1/email/a@mail.example?policy=later", ""), o.send("/v1/emails", `{"emails":["a@mail.example"],"policy":"later"}`)} {
		require.Equal(t, 500, w.Code)
		require.NotContains(t, w.Body.String(), "secret")
	}
	require.Contains(t, strings.Join(o.log.list(), ""), "policy later")
	require.NotContains(t, strings.Join(o.log.list(), ""), "secret")
	require.Zero(t, ledgertest.Used(t, o.ledger, "owner@example.com"))
}

// A batch has verdicts on every item that has a result, of any number, and on no other.
func TestVerdictsOfBatches(t *testing.T) {
	o := newOffice(t, map[string]string{"hard": blocksRoles})
	o.resolver.ask["broken.example"] = func(context.Context) (bool, error) { return false, &mx.Error{Kind: mx.Timeout} }
	for _, size := range []int{1, 15, 16, 17, maxUnique} {
		var emails []string
		for n := range size {
			emails = append(emails, []string{
				fmt.Sprintf(`"support+%d@mail.example"`, n), fmt.Sprintf(`"jane%d@mail.example"`, n), fmt.Sprintf(`"bad%d"`, n), fmt.Sprintf(`"support+%d@broken.example"`, n),
			}[n%4])
		}
		w := o.send("/v1/emails", `{"policy":"hard","emails":[`+strings.Join(emails, ",")+`]}`)
		require.Equal(t, 200, w.Code)
		body := w.Body.String()
		require.Equal(t, (size+3)/4, strings.Count(body, `"verdict":`+blocked+`},"error":null}`), size)
		require.Equal(t, (size+2)/4, strings.Count(body, `"verdict":{"action":"allow","reason":null,"rule":null}},"error":null}`), size)
		require.Equal(t, (size+1)/4, strings.Count(body, `"verdict":{"action":"block","reason":"invalid","rule":null}},"error":null}`), size)
		require.Equal(t, size-size/4, strings.Count(body, `"verdict"`), size)
	}
}

// admit sends a worker's request, with X-Edge-Policy unless that is "".
func (o *office) admit(key, policy, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, edgePath, strings.NewReader(body))
	r.Header.Set("X-API-Key", key)
	r.Header.Set("Content-Type", contentJSON)
	r.Header.Set(headerEdgeSecret, "secret")
	if policy != "" {
		r.Header.Set(headerEdgePolicy, policy)
	}
	return o.fakes.send(r)
}

// edgeHeaders returns the status and what the headers of a response say to a worker.
func edgeHeaders(w *httptest.ResponseRecorder) string {
	return fmt.Sprint(w.Code, " ", w.Header().Get(headerEdgeMX), " ", w.Header().Get(headerEdgePolicy))
}

const admitOne = `{"operation":"single","points":1,"brief":true,"domains":[{"name":"mail.example","addresses":1}]}`

// A worker gets the document that it lacks, before a charge, and each request confirms the
// digest of that in force, for the key's account only.
func TestWorkerDecidesByThePolicyInForce(t *testing.T) {
	o := newOffice(t, map[string]string{"hard": blocksRoles, "soft": allowsRoles})
	byDefault, _, err := o.ledger.CreateKey(t.Context(), o.account, "default", ledger.KeyTerms{Policy: "soft"})
	require.NoError(t, err)
	hard, soft := fmt.Sprintf("%x", sha256.Sum256([]byte(blocksRoles))), fmt.Sprintf("%x", sha256.Sum256([]byte(allowsRoles)))

	for _, header := range []string{"hard", "hard ", "hard " + soft, "hard nonsense", "hard " + hard + " "} {
		w := o.admit(o.key, header, "its body is not read")
		require.Equal(t, "200 policy "+hard, edgeHeaders(w), header)
		require.Equal(t, blocksRoles, w.Body.String())
		require.Empty(t, w.Header().Get("X-Usage-Current"))
	}
	require.Equal(t, "200 policy "+soft, edgeHeaders(o.admit(byDefault, "*", admitOne)))
	require.Equal(t, "200 policy "+hard, edgeHeaders(o.admit(byDefault, "hard "+soft, admitOne)))
	require.Zero(t, ledgertest.Used(t, o.ledger, "owner@example.com"))

	require.Equal(t, "204 true "+hard, edgeHeaders(o.admit(o.key, "hard "+hard, admitOne)))
	require.Equal(t, "204 true "+soft, edgeHeaders(o.admit(byDefault, "* "+soft, admitOne)))
	require.Equal(t, "204 true ", edgeHeaders(o.admit(o.key, "*", admitOne)))
	require.Equal(t, "204 true ", edgeHeaders(o.admit(o.key, "* "+hard, admitOne)), "the key has no default any more")
	require.EqualValues(t, 4, ledgertest.Used(t, o.ledger, "owner@example.com"))

	stranger, _ := ledgertest.NewAccountOn(t, o.ledger, "stranger@example.com", ledger.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Unlimited()})
	require.Equal(t, "400  none", edgeHeaders(o.admit(stranger, "hard "+hard, admitOne)), "a digest gives nobody a policy")
	require.Equal(t, "204 true ", edgeHeaders(o.admit(stranger, "* "+hard, admitOne)))

	o.set("hard", allowsRoles)
	require.Equal(t, "200 policy "+soft, edgeHeaders(o.admit(o.key, "hard "+hard, admitOne)))
	require.Equal(t, "204 true "+soft, edgeHeaders(o.admit(o.key, "hard "+soft, admitOne)), "two names of one document")
}

// A worker that does not have the policy, or cannot have it, gives no result without a verdict.
func TestWorkerWithoutThePolicy(t *testing.T) {
	longest := `{"block":{"domains":["a.example"` + strings.Repeat(" ", maxEdgePolicy-len(`{"block":{"domains":["a.example"]}}`)) + `]}}`
	o := newOffice(t, map[string]string{"hard": blocksRoles, "longest": longest, "long": strings.Replace(longest, " ", "  ", 1), "later": `{"block": {"reasons": ["secret@mail.example"]}}`})
	byDefault, _, err := o.ledger.CreateKey(t.Context(), o.account, "default", ledger.KeyTerms{Policy: "hard"})
	require.NoError(t, err)
	require.Equal(t, "503  ", edgeHeaders(o.admit(byDefault, "", admitOne)), "of an earlier release")
	require.Equal(t, maxEdgePolicy, o.admit(o.key, "longest", admitOne).Body.Len())
	require.Equal(t, "204 forward ", edgeHeaders(o.admit(o.key, "long", admitOne)))
	require.Equal(t, "500  ", edgeHeaders(o.admit(o.key, "later", admitOne)))

	const nothing = `{"operation":"single","points":0}`
	require.Equal(t, "200  ", edgeHeaders(o.admit(byDefault, "", nothing)), "input that is refused has no verdict")
	require.Equal(t, "400  none", edgeHeaders(o.admit(o.key, "other", nothing)), "but its policy must exist")
	for _, c := range []struct{ body, want string }{
		{admitOne, `{"status":400,"error":"The account has no policy other;`},
		{`{"operation":"batch","points":1}`, `{"success":false,"error":{"code":"INVALID_REQUEST","message":"The account has no policy other;`},
	} {
		w := o.admit(o.key, "other", c.body)
		require.Equal(t, "400  none", edgeHeaders(w))
		require.Contains(t, w.Body.String(), c.want)
	}
	require.Equal(t, "400  ", edgeHeaders(o.admit(o.key, "other", `{"operation":"single","points":2}`)), "the worker's own mistake")
	require.Zero(t, ledgertest.Used(t, o.ledger, "owner@example.com"))
}

// A worker's request goes on with the policy that it began with. One that is new since is not
// passed over, and nothing charged.
func TestWorkersRequestKeepsItsPolicy(t *testing.T) {
	o := newOffice(t, map[string]string{"hard": blocksRoles})
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(blocksRoles)))
	real := o.Ledger
	o.Ledger = replacing{real, func() { o.set("hard", allowsRoles) }}
	require.Equal(t, "204 true "+digest, edgeHeaders(o.admit(o.key, "hard "+digest, admitOne)))
	o.set("hard", blocksRoles)
	o.Ledger = replacing{real, func() { require.NoError(t, o.ledger.DeletePolicy(t.Context(), o.account, "hard")) }}
	require.Equal(t, "204 true "+digest, edgeHeaders(o.admit(o.key, "hard "+digest, admitOne)))
	require.EqualValues(t, 2, ledgertest.Used(t, o.ledger, "owner@example.com"))
	o.Ledger = replacing{real, func() { o.set("hard", blocksRoles) }}
	require.Equal(t, "503  ", edgeHeaders(o.admit(o.key, "hard", admitOne)))
	require.EqualValues(t, 2, ledgertest.Used(t, o.ledger, "owner@example.com"))
}

// A replacing ledger calls replace after it has looked for a policy.
type replacing struct {
	Ledger
	replace func()
}

func (r replacing) Prospect(ctx context.Context, secret, origin, name string) ledger.Prospect {
	defer r.replace()
	return r.Ledger.Prospect(ctx, secret, origin, name)
}

// FuzzEdgePolicy checks how X-Edge-Policy is read.
func FuzzEdgePolicy(f *testing.F) {
	for _, header := range []string{"", "*", "hard", "* ", " ", "hard  ", "** x", "* * *", "\x00", strings.Repeat("a", 100)} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		asked, given := edgePolicyOf(http.Header{headerEdgePolicy: {header}})
		require.Equal(t, header != "", given)
		require.NotEqual(t, "*", asked.name)
		require.NotContains(t, asked.name, " ")
		require.LessOrEqual(t, len(asked.name)+len(asked.digest), len(header))
	})
}

// A document is accepted once for many requests, and again when it has changed.
func TestPolicyIsAcceptedOnce(t *testing.T) {
	o := newOffice(t, map[string]string{"hard": blocksRoles})
	load := func() *host.Policy {
		request, _, err := o.Ledger.Begin(t.Context(), o.key, "")
		require.NoError(t, err)
		defer request.End()
		x := &exchange{Server: o.Server, request: request, caller: t.Context()}
		require.Nil(t, x.loadPolicy("hard"))
		return x.policy
	}
	first := load()
	require.Same(t, first, load())
	o.set("hard", allowsRoles)
	require.NotSame(t, first, load())
}

func TestQueryPolicy(t *testing.T) {
	for query, want := range map[string]string{
		"": "", "policy=a": "a", "x=1&policy=sign-up_2&y": "sign-up_2", "Policy=a": "", "policyx=a": "", "x=policy=a": "", "%70olicy=a": "",
		"policy=" + strings.Repeat("a", 64): strings.Repeat("a", 64),
	} {
		name, p := queryPolicy(query)
		require.Nil(t, p, query)
		require.Equal(t, want, name, query)
	}
	for _, query := range []string{"policy", "policy=", "policy=A", "policy=a&policy=a", "policy=a&policy=b", "policy=a&policy", "policy=%61", "policy=a=",
		"policy=a;", "policy=..", "policy=a/b", "policy='", "policy=" + strings.Repeat("a", 65)} {
		_, p := queryPolicy(query)
		require.NotNil(t, p, query)
		require.Equal(t, "INVALID_REQUEST", p.name)
	}
}

// The verdict is the last member with and without details, and no other byte changes.
func TestVerdictIsAppended(t *testing.T) {
	o := newOffice(t, map[string]string{"hard": blocksRoles})
	for _, query := range []string{"?", "?details=true&"} {
		without := o.send("/v1/email/support@mail.example"+query, "").Body.String()
		with := o.send("/v1/email/support@mail.example"+query+"policy=hard", "").Body.String()
		require.Equal(t, strings.TrimSuffix(without, "}")+`,"verdict":`+blocked+"}", with)
	}
}

// BenchmarkVerdict measures a batch of 64 addresses with their charge, without a policy, with
// ten rules, and with 10,000 domains.
func BenchmarkVerdict(b *testing.B) {
	var domains []string
	for n := range 10_000 {
		domains = append(domains, fmt.Sprintf(`"*.d%d.example"`, n))
	}
	rules := `"reasons": ["disposable", "relay", "typo", "role:marketing", "gibberish>=0.9", "no_mx", "quoted", "literal", "unknown_tld", "special_use"]`
	o := newOffice(b, map[string]string{"rules": `{"review": {` + rules + `}}`, "domains": `{"block": {"domains": [` + strings.Join(domains, ",") + `], ` + rules + `}}`})
	var emails []string
	for n := range maxUnique {
		emails = append(emails, fmt.Sprintf(`"jane.doe%d@d%d.mail.example"`, n, n))
	}
	for _, name := range []string{"none", "rules", "domains"} {
		body := `{"emails":[` + strings.Join(emails, ",") + `]`
		if name != "none" {
			body += `,"policy":"` + name + `"`
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.Equal(b, 200, o.send("/v1/emails", body+"}").Code)
			}
		})
	}
}

// Documents that are being sent to workers count as the account's memory until they are sent:
// they need no token, so their number has no other limit.
func TestDocumentsForWorkersAreBounded(t *testing.T) {
	long := `{"block":{"domains":["a.example"` + strings.Repeat(" ", maxEdgePolicy/2) + `]}}`
	o := newOffice(t, map[string]string{"long": long})
	o.Memory = NewMemoryBudget(MinBodyMemory)
	own := o.Memory.reservation(o.account)
	own.set(MinBodyMemory/budgetShares - int64(len(long)) + 1)
	w := o.admit(o.key, "long", admitOne)
	require.Equal(t, "429  ", edgeHeaders(w))
	require.Contains(t, w.Body.String(), `"detail":"Rate limit exceeded: the headers, bodies and responses`)
	own.set(MinBodyMemory/budgetShares - int64(len(long)))
	require.Equal(t, http.StatusOK, o.admit(o.key, "long", admitOne).Code)

	own.set(0)
	during := int64(0)
	r := httptest.NewRequest(http.MethodPost, edgePath, nil)
	r.Header = http.Header{"X-Api-Key": {o.key}, headerEdgeSecret: {"secret"}, headerEdgePolicy: {"long"}}
	o.ServeHTTP(watchedWriter{httptest.NewRecorder(), func() { during = o.Memory.Used() }}, r)
	require.EqualValues(t, len(long), during)
	require.Zero(t, o.Memory.Used())
}

// A watchedWriter calls before ahead of each Write.
type watchedWriter struct {
	http.ResponseWriter
	before func()
}

func (w watchedWriter) Write(b []byte) (int, error) {
	w.before()
	return w.ResponseWriter.Write(b)
}
