package api

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
)

// Every decision has the response of the contract, for both operations.
func TestDecisionProblem(t *testing.T) {
	for _, c := range []struct {
		kind   ledger.Kind
		wait   time.Duration
		style  *problemStyle
		status int
		header string // Retry-After
		want   string
	}{
		{ledger.UnknownKey, 0, singleStyle, 401, "", `"code":"INVALID_API_KEY"`},
		{ledger.UnknownKey, 0, batchStyle, 401, "", `"code":"INVALID_API_KEY"`},
		{ledger.RateLimited, 900 * time.Millisecond, singleStyle, 429, "1", `"detail":"Rate limit exceeded: wait 1 seconds before the next request."`},
		{ledger.RateLimited, 2500 * time.Millisecond, batchStyle, 429, "3", `"detail":"Rate limit exceeded: wait 3 seconds before the next request."`},
		{ledger.Busy, time.Second, batchStyle, 429, "1", "requests in progress"},
		{ledger.Busy, 0, singleStyle, 429, "1", "requests in progress"},
		{ledger.UnpaidWork, time.Second, batchStyle, 429, "1", "abandoned"},
		{ledger.RecordsFull, time.Second, batchStyle, 429, "1", "Idempotency-Keys"},
		{ledger.IdempotencyMismatch, 0, batchStyle, 422, "", `{"success":false,"error":{"code":"IDEMPOTENCY_MISMATCH"`},
		{ledger.IdempotencyConflict, 0, batchStyle, 409, "", `{"success":false,"error":{"code":"IDEMPOTENCY_CONFLICT"`},
		{ledger.Insufficient, 100 * time.Hour, batchStyle, 402, "", `"required":5,"remaining":2}}`},
		{ledger.Claimed, time.Second, batchStyle, 402, "", `"required":5,"remaining":2}}`},
		{ledger.Insufficient, 100 * time.Hour, singleStyle, 429, "", `"detail":"Rate limit exceeded: the month's usage points are used up; wait 360000 seconds until they refill, or change the plan."`},
		{ledger.Claimed, time.Second, singleStyle, 429, "1", "reserved for requests in progress"},
	} {
		t.Run(fmt.Sprint(c.kind, c.style.inputShape), func(t *testing.T) {
			p := decisionProblem(ledger.Decision{Kind: c.kind, RetryAfter: c.wait, Remaining: 2}, c.style, 5)
			require.Equal(t, c.status, p.status)
			resp := p.response(c.style.inputShape)
			require.Contains(t, string(resp.body), c.want)
			require.Equal(t, c.header, header(resp, "Retry-After"))
			if c.status == 429 {
				require.Regexp(t, `^\{"status":429,"title":"Too Many Requests","detail":"Rate limit exceeded: .*\d+ seconds.*"\}$`, string(resp.body))
			}
		})
	}
	for _, passes := range []ledger.Kind{ledger.Good, ledger.Replayed} {
		require.Nil(t, decisionProblem(ledger.Decision{Kind: passes}, batchStyle, 1))
	}
	require.Equal(t, 500, decisionProblem(ledger.Decision{Kind: ledger.Claimed + 1}, batchStyle, 1).status, "an unknown kind")
}

func TestLedgerProblem(t *testing.T) {
	for err, want := range map[error]string{
		ledger.ErrUnavailable: "nothing was charged",
		ledger.ErrClosed:      "nothing was charged",
		ledger.ErrRecord:      `"code":"INTERNAL_ERROR"`,
		ledger.ErrUndecided:   "The charge is undecided: ",
		errors.New("odd"):     "nothing was charged",
	} {
		p := ledgerProblem(fmt.Errorf("wrapped: %w", err))
		resp := p.response(enveloped)
		require.Contains(t, string(resp.body), want)
		require.Equal(t, err == ledger.ErrRecord, resp.status == 500, err)
		if err != ledger.ErrRecord {
			require.Contains(t, "1 2 3 4", header(resp, "Retry-After"), err)
		}
	}
	seen := map[time.Duration]bool{}
	for range 200 {
		seen[ledgerProblem(ledger.ErrUnavailable).retryAfter] = true
	}
	require.Equal(t, map[time.Duration]bool{time.Second: true, 2 * time.Second: true, 3 * time.Second: true, 4 * time.Second: true}, seen, "clients do not return together")
	// If both match, the message must not say that nothing was charged.
	both := fmt.Errorf("%w: %w", ledger.ErrUnavailable, ledger.ErrUndecided)
	require.NotContains(t, ledgerProblem(both).message, "nothing was charged")
}
