package api

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
)

func TestQuotaFields(t *testing.T) {
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
		setRateLimit(h, &c.usage, &c.quota)
		require.Equal(t, [2]string{c.policy, c.left}, [2]string{h.Get("RateLimit-Policy"), h.Get("RateLimit")}, name)
	}
}

func TestUsageReport(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 1e6, time.UTC)
	report := func(d ledger.Decision) string { return string(encode(reportOf(d, now))) }
	require.JSONEq(t, `{"points":{"used":12,"limit":1000,"remaining":980,"overage":true,"refill":"2026-12-01T00:00:00Z"},"rate":{"limit":5,"remaining":4}}`,
		report(ledger.Decision{Usage: &ledger.Usage{Current: 12, Limit: 1000}, Remaining: 980,
			Quota: &ledger.Quota{Rate: 5, Tokens: 4, Overage: true, Refill: (10*24+12)*time.Hour - 2*time.Millisecond}}))
	require.JSONEq(t, `{"points":{"used":0,"limit":null,"remaining":null,"overage":false,"refill":"2026-11-20T12:00:00Z"},"rate":{"limit":null,"remaining":null}}`,
		report(ledger.Decision{Usage: &ledger.Usage{Limit: ledger.Unlimited}, Remaining: ledger.Unlimited,
			Quota: &ledger.Quota{Rate: ledger.Unlimited, Tokens: ledger.Unlimited}}))
}

// The usage is asked of the database, whose verdict is the request's.
func TestUsageAsksTheLedger(t *testing.T) {
	f := newFakes(t)
	f.ledger.begin, f.ledger.inspect = verdict(ledger.Good), verdict(ledger.Good)
	f.ledger.inspect.Quota = &ledger.Quota{Rate: 1}
	answer := f.send(f.ask(http.MethodGet, "/v1/usage", ""))
	require.Equal(t, 200, answer.Code)
	require.Contains(t, answer.Body.String(), `"used":3`)
	require.Equal(t, `"rate";q=1;w=1, "points";q=10;qu="points"`, answer.Header().Get("RateLimit-Policy"))
	require.Equal(t, []string{"begin", "inspect", "end"}, f.trace.list())

	f.ledger.inspect = verdict(ledger.UnknownKey)
	require.Equal(t, 401, f.send(f.ask(http.MethodGet, "/v1/usage", "")).Code)
	f.ledger.inspect = outcomeOf{err: ledger.ErrUnavailable}
	require.Equal(t, 503, f.send(f.ask(http.MethodGet, "/v1/usage", "")).Code)
}

func TestOnlyValue(t *testing.T) {
	for want, values := range map[string][]string{"": nil, "x": {"x"}} {
		value, ok := singleValue(http.Header{"X": values}, "X")
		require.True(t, ok)
		require.Equal(t, want, value)
	}
	for _, values := range [][]string{{"a,b"}, {","}, {"a", "b"}, {"", ""}, {"a", "a"}} {
		_, ok := singleValue(http.Header{"X": values}, "X")
		require.False(t, ok, values)
	}
}
