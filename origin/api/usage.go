package api

import (
	"context"
	"net/http"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

// usage is GET /v1/usage: what the account has used and has left. Like every
// request it takes a token of the rate; it costs no points.
var usage = &operation{name: "usage", style: singleStyle, read: readUsage}

func readUsage(_ *exchange, _ *http.Request) (job, *problem) {
	return job{work: func(x *exchange, _ context.Context) (outcome, *problem) {
		decision, err := x.request.Inspect()
		if p := x.judge(decision, err, 0); p != nil {
			return outcome{}, p
		}
		return outcome{body: encode(reportOf(decision, time.Now()))}, nil
	}}, nil
}

// A usageReport is the JSON of the answer; null means unlimited.
type usageReport struct {
	Points struct {
		Used      int64     `json:"used"`      // this month
		Limit     *int64    `json:"limit"`     // a month
		Remaining *int64    `json:"remaining"` // without the points of requests under way
		Overage   bool      `json:"overage"`   // used may exceed limit
		Refill    time.Time `json:"refill"`    // when used becomes 0
	} `json:"points"`
	Rate struct {
		Limit     *int64 `json:"limit"`     // requests a second
		Remaining *int64 `json:"remaining"` // requests that may be sent now
	} `json:"rate"`
}

func reportOf(d ledger.Decision, now time.Time) (r usageReport) {
	limited := func(n int64) *int64 {
		if n == ledger.Unlimited {
			return nil
		}
		return &n
	}
	r.Points.Used, r.Points.Overage = d.Usage.Current, d.Quota.Overage
	r.Points.Limit, r.Points.Remaining = limited(d.Usage.Limit), limited(d.Remaining)
	r.Points.Refill = now.Add(d.Quota.Refill).UTC().Round(time.Second)
	r.Rate.Limit, r.Rate.Remaining = limited(d.Quota.Rate), limited(d.Quota.Tokens)
	return r
}
