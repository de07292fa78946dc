package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/mx"
)

// lookupRequests returns a request of each kind for mail.example.
func (f *fakes) lookupRequests() map[string]*http.Request {
	edge := func(operation string) *http.Request {
		body := `{"operation":"` + operation + `","points":1,"tally":{},"domains":[{"name":"mail.example","addresses":1,"tally":{"valid":1}}]}`
		return f.ask(http.MethodPost, edgePath, body, headerEdgeSecret, "secret")
	}
	return map[string]*http.Request{
		"single": f.ask(http.MethodGet, "/v1/email/a@mail.example", ""), "batch": f.ask(http.MethodPost, "/v1/emails", twoAddresses),
		"edge single": edge(opSingle), "edge batch": edge(opBatch),
	}
}

// A lookup refused because too many wait fails the whole request, at no cost. It
// is not an error of the domain.
func TestRefusedLookupFailsRequest(t *testing.T) {
	for reason, want := range map[mx.Reason]struct {
		status int
		text   string
	}{
		mx.AccountLimit: {http.StatusTooManyRequests, "^Rate limit exceeded: .*[0-9]+ second"},
		mx.GlobalLimit:  {http.StatusServiceUnavailable, "nothing was charged"},
	} {
		f := newFakes(t)
		f.resolver.ask["mail.example"] = func(context.Context) (bool, error) {
			return false, &mx.Error{Kind: mx.Limited, Reason: reason}
		}
		f.resolver.ask["other.example"] = silent // the refused lookup ends it
		for name, r := range f.lookupRequests() {
			resp := f.send(r)
			require.Equal(t, want.status, resp.Code, name)
			require.Equal(t, "1", resp.Header().Get("Retry-After"), name)
			var p struct{ Title, Detail, Error string }
			require.NoError(t, json.Unmarshal(resp.Body.Bytes(), &p), name)
			require.Regexp(t, want.text, p.Detail+p.Error, name)
			require.Equal(t, want.status == http.StatusTooManyRequests, p.Title != "", "shape C: %s", name)
		}
		require.NotContains(t, f.trace.list(), "charge")
		require.Equal(t, want.status == http.StatusTooManyRequests, slices.Contains(f.trace.list(), "waste"), "counts as unpaid work")
	}
}

// Lookup gets the request's account, since the resolver is shared fairly between
// accounts.
func TestLookupAccount(t *testing.T) {
	f := newFakes(t)
	f.resolver.ask["mail.example"] = func(context.Context) (bool, error) { return true, nil }
	for name, r := range f.lookupRequests() {
		f.resolver.account.Store(0)
		require.Equal(t, http.StatusOK, f.send(r).Code, name)
		require.Equal(t, f.ledger.account, f.resolver.account.Load(), name)
	}
}

func TestLookupProblem(t *testing.T) {
	for _, err := range []error{&mx.Error{Kind: mx.Timeout, Reason: mx.NoReply}, context.DeadlineExceeded,
		&mx.Error{Kind: mx.Failure, Reason: mx.Malformed}, errors.New("odd")} {
		require.Equal(t, http.StatusServiceUnavailable, lookupProblem(err).Status)
	}
}
