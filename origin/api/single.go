package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/wasm/host"
)

// singlePrefix precedes the address in the path.
const singlePrefix = "/v1/email/"

// single is GET /v1/email/{email}. It costs one point, only if it returns 200.
func single(x *exchange, r *http.Request) (none wire.Response, p *wire.Problem) {
	email, found := strings.CutPrefix(r.URL.Path, singlePrefix) // which net/url has decoded once
	if !found || email == "" {
		return none, wire.MissingEmail.With(wire.TextNoAddress)
	}
	options, p := wire.ReadOptions(r.URL.RawQuery)
	if p != nil {
		return none, p
	}
	c, p := x.newCheck(1, options)
	if p != nil {
		return none, p
	}
	ctx := x.request.Context()
	if err := c.run(ctx, []string{email}); err != nil {
		return none, x.moduleProblem(ctx, err)
	}
	i := &c.items[0]
	if !i.checked {
		return none, x.cancelled()
	}
	if !i.facts.Valid {
		return none, c.refused(r)
	}
	if _, _, p := x.claim(1, nil); p != nil {
		return none, p
	}
	if x.request.Test() {
		p = c.useTable()
	} else {
		p = c.lookUp(ctx)
	}
	if p != nil {
		return none, p
	}
	if !i.facts.Valid { // by the table
		return none, c.refused(r)
	}
	if i.lookup.err != nil {
		return none, lookupProblem(i.lookup.err)
	}
	if err := c.decide(ctx); err != nil {
		return none, x.moduleProblem(ctx, err)
	}
	finished := c.finished()
	return x.charge(int64(len(finished)), foundIn(finished), i.appendResult(nil))
}

// refused returns the problem of an address that is not valid, with the members that the caller opted in
// for: of the details those that say why, and the verdict of the policy.
func (c *check) refused(r *http.Request) *wire.Problem {
	i, ctx := &c.items[0], r.Context()
	p := wire.InvalidFormat.With(sentence(i.facts.Refusal.Sentence))
	if c.flags&host.Details != 0 {
		var whole struct {
			Details struct {
				Refusal json.RawMessage `json:"refusal"`
			} `json:"details"`
		}
		if err := json.Unmarshal(i.facts.JSON, &whole); err != nil {
			return c.moduleProblem(ctx, err)
		}
		p.Opted.Details = wire.Encode(whole.Details)
	}
	if c.policy != nil {
		i.lookup.finished = true
		if err := c.decide(ctx); err != nil {
			return c.moduleProblem(ctx, err)
		}
		p.Opted.Verdict = i.verdict
	}
	return p
}

// usage is GET /v1/usage: what the account has used and has left. Like every request it takes a token of
// the rate; it costs no points.
func usage(x *exchange, _ *http.Request) (wire.Response, *wire.Problem) {
	decision, err := x.request.Inspect()
	if p := x.judge(decision, err, 0); p != nil {
		return wire.Response{}, p
	}
	return wire.Response{Status: http.StatusOK, Body: wire.Encode(reportOf(decision, time.Now()))}, nil
}

// A usageReport is the JSON of the response; null means unlimited.
type usageReport struct {
	Points struct {
		Used      int64     `json:"used"`      // this month
		Limit     *int64    `json:"limit"`     // a month
		Remaining *int64    `json:"remaining"` // without the points of requests in progress
		Overage   bool      `json:"overage"`   // used may exceed limit
		Refill    time.Time `json:"refill"`    // when used becomes 0
	} `json:"points"`
	Rate struct {
		Limit     *int64 `json:"limit"`     // requests a second
		Remaining *int64 `json:"remaining"` // requests that may be sent now
	} `json:"rate"`
	Policy string `json:"policy,omitempty"` // the name of the key's default policy
}

func reportOf(d ledger.Decision, now time.Time) (r usageReport) {
	limited := func(n int64) *int64 {
		if n == book.Unlimited {
			return nil
		}
		return &n
	}
	r.Points.Used, r.Points.Overage = d.Usage.Current, d.Quota.Overage
	r.Points.Limit, r.Points.Remaining = limited(d.Usage.Limit), limited(d.Remaining)
	r.Points.Refill = now.Add(d.Quota.Refill).UTC().Round(time.Second)
	r.Rate.Limit, r.Rate.Remaining = limited(d.Quota.Rate), limited(d.Quota.Tokens)
	r.Policy = d.Quota.Policy
	return r
}
