package api

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Every decision has the response of the contract, for both operations.
func TestDecisionProblem(t *testing.T) {
	for _, c := range []struct {
		kind   ledger.Kind
		wait   time.Duration
		style  wire.Shape
		status int
		header string // Retry-After
		want   string
	}{
		{ledger.UnknownKey, 0, wire.Flat, 401, "", `"code":"INVALID_API_KEY"`},
		{ledger.UnknownKey, 0, wire.Enveloped, 401, "", `"code":"INVALID_API_KEY"`},
		{ledger.RateLimited, 900 * time.Millisecond, wire.Flat, 429, "1", `"detail":"Rate limit exceeded: wait 1 second before the next request."`},
		{ledger.RateLimited, 2500 * time.Millisecond, wire.Enveloped, 429, "3", `"detail":"Rate limit exceeded: wait 3 seconds before the next request."`},
		{ledger.Busy, time.Second, wire.Enveloped, 429, "1", "requests in progress"},
		{ledger.Busy, 0, wire.Flat, 429, "1", "requests in progress"},
		{ledger.UnpaidWork, time.Second, wire.Enveloped, 429, "1", "abandoned"},
		{ledger.RecordsFull, time.Second, wire.Enveloped, 429, "1", "Idempotency-Keys"},
		{ledger.IdempotencyMismatch, 0, wire.Enveloped, 422, "", `{"success":false,"error":{"code":"IDEMPOTENCY_MISMATCH"`},
		{ledger.IdempotencyConflict, 0, wire.Enveloped, 409, "", `{"success":false,"error":{"code":"IDEMPOTENCY_CONFLICT"`},
		{ledger.Insufficient, 100 * time.Hour, wire.Enveloped, 402, "", `"required":5,"remaining":2}}`},
		{ledger.Claimed, time.Second, wire.Enveloped, 402, "", `"required":5,"remaining":2}}`},
		{ledger.Insufficient, 100 * time.Hour, wire.Flat, 429, "", "; wait 360000 seconds, or change the plan."},
		{ledger.Claimed, time.Second, wire.Flat, 429, "1", "reserved for requests in progress"},
	} {
		t.Run(fmt.Sprint(c.kind, c.style), func(t *testing.T) {
			p := decisionProblem(ledger.Decision{Kind: c.kind, RetryAfter: c.wait, Remaining: 2}, c.style, 5)
			require.Equal(t, c.status, p.Status)
			resp := p.Response(c.style)
			require.Contains(t, string(resp.Body), c.want)
			require.Equal(t, c.header, header(resp, "Retry-After"))
			if c.status == 429 {
				require.Regexp(t, `^\{"status":429,"title":"Too Many Requests","detail":"Rate limit exceeded: .*\d+ second.*"\}$`, string(resp.Body))
			}
		})
	}
	require.Equal(t, 500, decisionProblem(ledger.Decision{Kind: ledger.Claimed + 1}, wire.Enveloped, 1).Status, "an unknown kind")
}

func TestLedgerProblem(t *testing.T) {
	for err, want := range map[error]string{
		store.ErrUnavailable: "nothing was charged",
		ledger.ErrClosed:     "nothing was charged",
		ledger.ErrRecord:     `"code":"INTERNAL_ERROR"`,
		ledger.ErrUndecided:  "The charge is undecided: ",
		errors.New("odd"):    "nothing was charged",
	} {
		p := ledgerProblem(fmt.Errorf("wrapped: %w", err))
		resp := p.Response(wire.Enveloped)
		require.Contains(t, string(resp.Body), want)
		require.Equal(t, err == ledger.ErrRecord, resp.Status == 500, err)
		if err != ledger.ErrRecord {
			require.Contains(t, "1 2 3 4", header(resp, "Retry-After"), err)
		}
	}
	seen := map[time.Duration]bool{}
	for range 200 {
		seen[ledgerProblem(store.ErrUnavailable).RetryAfter] = true
	}
	require.Equal(t, map[time.Duration]bool{time.Second: true, 2 * time.Second: true, 3 * time.Second: true, 4 * time.Second: true}, seen, "clients do not return together")
	// If both match, the message must not say that nothing was charged.
	both := fmt.Errorf("%w: %w", store.ErrUnavailable, ledger.ErrUndecided)
	require.NotContains(t, ledgerProblem(both).Message, "nothing was charged")
}
