package api

import (
	"context"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
)

func TestRateLimitHeaders(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		usage        ledger.Usage
		quota        ledger.Quota
		policy, left string
	}{
		"both limits": {ledger.Usage{Current: 12, Limit: 1000}, ledger.Quota{Rate: 5, Tokens: 4, Refill: 10*day - time.Millisecond},
			`"rate";q=5;w=1, "points";q=1000;qu="points"`, `"rate";r=4;t=1, "points";r=988;t=864000`},
		"no rate":              {ledger.Usage{Current: 10, Limit: 10}, ledger.Quota{Rate: ledger.Unlimited, Refill: day}, `"points";q=10;qu="points"`, `"points";r=0;t=86400`},
		"no points":            {ledger.Usage{Limit: ledger.Unlimited}, ledger.Quota{Rate: 1}, `"rate";q=1;w=1`, `"rate";r=0;t=1`},
		"points may be passed": {ledger.Usage{Limit: 10}, ledger.Quota{Rate: 1, Overage: true}, `"rate";q=1;w=1`, `"rate";r=0;t=1`},
		"a limit lowered":      {ledger.Usage{Current: 20, Limit: 10}, ledger.Quota{Rate: ledger.Unlimited}, `"points";q=10;qu="points"`, `"points";r=0;t=1`},
		"no limits":            {ledger.Usage{Limit: ledger.Unlimited}, ledger.Quota{Rate: ledger.Unlimited}, "", ""},
		"beyond an Integer": {ledger.Usage{Limit: math.MaxInt64}, ledger.Quota{Rate: ledger.Unlimited, Refill: day},
			`"points";q=999999999999999;qu="points"`, `"points";r=999999999999999;t=86400`},
	} {
		h := http.Header{}
		setRateLimit(fieldsOf(h), &c.usage, &c.quota)
		require.Equal(t, [2]string{c.policy, c.left}, [2]string{h.Get("RateLimit-Policy"), h.Get("RateLimit")}, name)
	}
}

// A late refusal ends the request's context, and with it a read of the ledger: the response
// is the refusal, not that the ledger failed.
func TestLateRefusalDuringARead(t *testing.T) {
	f := newFakes(t)
	f.ledger.begin = decided(ledger.Good)
	f.ledger.claim = outcomeOf{err: context.Canceled}
	f.ledger.onClaim = func() { f.ledger.late = ledger.RateLimited }
	resp := f.send(f.ask(http.MethodGet, "/v1/email/jane@example.org", ""))
	require.Equal(t, http.StatusTooManyRequests, resp.Code, resp.Body)
	require.Equal(t, []string{"begin", "claim", "end"}, f.trace.list())
}
