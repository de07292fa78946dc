package api

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
)

func TestUsageReport(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 1e6, time.UTC)
	report := func(d ledger.Decision) string { return string(wire.Encode(reportOf(d, now))) }
	require.JSONEq(t, `{"points":{"used":12,"limit":1000,"remaining":980,"overage":true,"refill":"2026-12-01T00:00:00Z"},"rate":{"limit":5,"remaining":4}}`,
		report(ledger.Decision{Usage: &ledger.Usage{Current: 12, Limit: 1000}, Remaining: 980,
			Quota: &ledger.Quota{Rate: 5, Tokens: 4, Overage: true, Refill: (10*24+12)*time.Hour - 2*time.Millisecond}}))
	require.JSONEq(t, `{"points":{"used":0,"limit":null,"remaining":null,"overage":false,"refill":"2026-11-20T12:00:00Z"},"rate":{"limit":null,"remaining":null}}`,
		report(ledger.Decision{Usage: &ledger.Usage{Limit: book.Unlimited}, Remaining: book.Unlimited,
			Quota: &ledger.Quota{Rate: book.Unlimited, Tokens: book.Unlimited}}))
	require.Contains(t, report(ledger.Decision{Usage: &ledger.Usage{}, Quota: &ledger.Quota{Policy: "sign-up"}}), `},"policy":"sign-up"}`)
}

// The usage is read by Inspect, whose decision gives the response.
func TestUsageInspectsLedger(t *testing.T) {
	f := newFakes(t)
	f.ledger.begin, f.ledger.inspect = decided(ledger.Good), decided(ledger.Good)
	f.ledger.inspect.Quota = &ledger.Quota{Rate: 1}
	resp := f.send(f.ask(http.MethodGet, "/v1/usage", ""))
	require.Equal(t, 200, resp.Code)
	require.Contains(t, resp.Body.String(), `"used":3`)
	require.Equal(t, `"rate";q=1;w=1, "points";q=10;qu="points"`, resp.Header().Get("RateLimit-Policy"))
	require.Equal(t, []string{"begin", "inspect", "end"}, f.trace.list())

	f.ledger.inspect = decided(ledger.UnknownKey)
	require.Equal(t, 401, f.send(f.ask(http.MethodGet, "/v1/usage", "")).Code)
	f.ledger.inspect = outcomeOf{err: store.ErrUnavailable}
	require.Equal(t, 503, f.send(f.ask(http.MethodGet, "/v1/usage", "")).Code)
}

// The usage history counts as errors the requests that get no 2xx, and no others.
func TestUsageCountsErrors(t *testing.T) {
	l := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	key, account := ledgertest.NewAccountOn(t, l, "owner@example.com", book.Terms{Rate: ledgertest.Unlimited()})
	f := newFakes(t)
	f.Ledger = FromLedger(l)
	send := func(method, path, body string) int {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("X-API-Key", key)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "1")
		return f.send(r).Code
	}
	batch := `{"emails": ["jane@example.org"]}`
	require.Equal(t, 200, send(http.MethodGet, "/v1/usage", ""))
	require.Equal(t, 200, send(http.MethodHead, "/v1/usage", ""))
	require.Equal(t, 200, send(http.MethodGet, "/v1/email/jane@example.org", ""))
	require.Equal(t, 200, send(http.MethodPost, "/v1/emails", batch))
	require.Equal(t, 200, send(http.MethodPost, "/v1/emails", batch), "replayed")
	require.Equal(t, 400, send(http.MethodGet, "/v1/email/jane", ""))
	require.Equal(t, 400, send(http.MethodPost, "/v1/emails", "{"))
	var sum book.Tally
	require.Eventually(t, func() bool {
		days, err := l.UsageHistory(t.Context(), account, 0, 1_000_000)
		require.NoError(t, err)
		sum = book.Tally{}
		for _, d := range days {
			sum = sum.Plus(d.Tally)
		}
		return sum.Requests == 7
	}, hung, time.Millisecond)
	require.EqualValues(t, 2, sum.Points)
	require.EqualValues(t, 2, sum.Errors)
}

// Somebody who is signed in to an account needs no key, pays with its points, and gets nothing of
// another account or of one that does not exist, whatever key the request has.
func TestAsAnAccount(t *testing.T) {
	l := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	key, _ := ledgertest.NewAccountOn(t, l, "other@example.com", book.Terms{Points: ledgertest.Limit(9)})
	_, account := ledgertest.NewAccountOn(t, l, "owner@example.com", book.Terms{Points: ledgertest.Limit(1), Rate: ledgertest.Unlimited()})
	f := newFakes(t)
	f.Ledger = FromLedger(l)
	for _, c := range []struct {
		account int64
		status  int
	}{{account, 200}, {account, 429}, {account + 1, 401}} {
		r := httptest.NewRequest(http.MethodGet, "/v1/email/jane@example.org", nil)
		r.Header.Set("X-API-Key", key)
		resp := f.send(r.WithContext(As(t.Context(), c.account)))
		require.Equal(t, c.status, resp.Code, resp.Body)
		require.NotContains(t, resp.Header().Get("X-Usage-Limit"), "9")
	}
}

// A request that costs nothing is refused too if its token was refused while it was in progress.
func TestUsageIsRefusedLate(t *testing.T) {
	f := newFakes(t)
	f.ledger.begin, f.ledger.inspect = decided(ledger.Good), decided(ledger.Good)
	f.ledger.inspect.Quota, f.ledger.late = &ledger.Quota{Rate: 1}, ledger.RateLimited
	require.Equal(t, 429, f.send(f.ask(http.MethodGet, "/v1/usage", "")).Code)
}
