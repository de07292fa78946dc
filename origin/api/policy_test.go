package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
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
	o.key, o.account = ledgertest.NewAccountOn(t, l, "owner@example.com", book.Terms{Rate: ledgertest.Unlimited(), Points: ledgertest.Unlimited()})
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
	r.Header.Set("Content-Type", wire.JSON)
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

// A worker must forward the requests with a test key or with a key that has a default policy. It
// learns it before a token is taken and the body is read.
func TestWorkerForwards(t *testing.T) {
	o := newOffice(t, map[string]string{"hard": blocksRoles})
	byDefault, k, err := o.ledger.CreateKey(t.Context(), o.account, "default", book.KeyTerms{Policy: "hard"})
	require.NoError(t, err)
	test := testKeyOf(t, o.ledger, o.account)
	admit := func(key, body string) (response string, header http.Header) {
		r := httptest.NewRequest(http.MethodPost, edgePath, strings.NewReader(body))
		r.Header.Set("X-API-Key", key)
		r.Header.Set("Content-Type", wire.JSON)
		r.Header.Set(headerEdgeSecret, "secret")
		w := o.fakes.send(r)
		return fmt.Sprint(w.Code, " ", w.Header().Get(headerEdgeMX)), w.Header()
	}
	for _, key := range []string{byDefault, test} {
		response, header := admit(key, "its body is not read")
		require.Equal(t, "204 forward", response)
		require.Empty(t, header.Get("X-Usage-Current"))
	}
	one := func(key string) string {
		response, _ := admit(key, `{"operation":"single","points":1,"brief":true,"domains":[{"name":"mail.example","addresses":1}]}`)
		return response
	}
	require.Equal(t, "204 true", one(o.key))
	require.Equal(t, "401 ", one(book.NewSecret()))
	o.Ledger = unknowing{o.Ledger}
	require.Equal(t, "204 forward", one(byDefault))
	require.Equal(t, "204 forward", one(test))
	require.NoError(t, o.ledger.ChangeKey(t.Context(), o.account, k.ID, book.KeyChange{Terms: &book.KeyTerms{}}))
	require.Equal(t, "204 true", one(byDefault), "it has no policy any more")
	require.EqualValues(t, 2, ledgertest.Used(t, o.ledger, "owner@example.com"))
}

// An unknowing ledger cannot look a key up before Begin, because the database fails at that moment.
type unknowing struct{ Ledger }

func (unknowing) Forwards(context.Context, string, string) bool { return false }

// A document is accepted once for many requests, and again when it has changed.
func TestPolicyIsAcceptedOnce(t *testing.T) {
	o := newOffice(t, map[string]string{"hard": blocksRoles})
	load := func() *host.Policy {
		request, _, err := o.Ledger.Begin(t.Context(), o.key, "")
		require.NoError(t, err)
		defer request.End()
		x := &exchange{Server: o.Server, request: request, caller: t.Context()}
		loaded, p := x.policy("hard")
		require.Nil(t, p)
		return loaded
	}
	first := load()
	require.Same(t, first, load())
	o.set("hard", allowsRoles)
	require.NotSame(t, first, load())
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

// While other accounts have all turns for verdicts, requests without a policy are served, and one with a
// policy waits for a second at most.
func TestPoliciesTakeTurns(t *testing.T) {
	o := newOffice(t, map[string]string{"own": `{"block": {"reasons": ["role"]}}`})
	turns := max(1, o.Engine.View().Size()-1)
	for n := range turns {
		require.NoError(t, o.policies.Take(t.Context(), owner{account: int64(-n)}, 1))
	}
	const path = "/v1/email/jane@mail.example"
	require.Equal(t, http.StatusOK, o.send(path, "").Code)
	w := o.send(path+"?policy=own", "")
	require.Equal(t, http.StatusTooManyRequests, w.Code, w.Body)
	require.Contains(t, w.Body.String(), "Rate limit exceeded: requests with policies take turns")
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	require.EqualValues(t, 1, ledgertest.Used(t, o.ledger, "owner@example.com"))
	o.policies.Free(owner{}, 1)
	require.Equal(t, http.StatusOK, o.send(path+"?policy=own", "").Code)
	require.Equal(t, turns-1, o.policies.Used())
}
