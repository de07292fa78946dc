package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/addrspec/addrspec/origin/result"
	"github.com/addrspec/addrspec/origin/signuphook"
	"github.com/addrspec/addrspec/wasm/host"
)

// The decision about a sign-up costs what GET /v1/email/{email} costs: one point, none
// for an address that is not valid, and none if on_error decides. It runs through the
// same pipeline, with a key of the account. The answer is stored as for an
// Idempotency-Key: a further call about the same sign-up gets the same bytes and costs
// nothing.

// decide answers with a decision.
func (c *hookCall) decide() response {
	if c.call.Email == "" {
		return c.decided(c.hook.Policy.JudgeNoEmail())
	}
	facts, err := c.check()
	if err != nil {
		c.logError("a hook's check failed", err)
		return c.unchecked([]byte("the module failed"))
	}
	if !facts.Valid {
		return c.decided(c.hook.Policy.Judge(&result.Result{}))
	}
	unlock, err := c.hooksUnderWay.lock(c.request.Context(), c.hook, c.call)
	if err != nil {
		return c.unchecked([]byte("the caller closed its side of the connection"))
	}
	defer unlock()
	return c.charged(&facts)
}

// check runs the module on the address.
func (c *hookCall) check() (host.Facts, error) {
	ctx, cancel := context.WithTimeout(c.request.Context(), c.hook.Timeout)
	defer cancel()
	return c.Engine.Check(ctx, nil, c.call.Email, c.Flags&^host.FullSuggestion)
}

// charged runs the pipeline for a valid address. It waits for the account's rate while
// the hook's timeout allows: a person who signs up rather waits a second than tries
// again.
func (c *hookCall) charged(facts *host.Facts) response {
	end := time.Now().Add(c.hook.Timeout)
	for {
		answer, err := c.pay(facts)
		if err != nil {
			return c.unchecked([]byte(err.Error()))
		}
		if answer.status != http.StatusTooManyRequests || answer.retryAfter == 0 || time.Now().Add(answer.retryAfter).After(end) {
			return c.ofPipeline(answer)
		}
		answer.discard()
		c.sleep(answer.retryAfter)
	}
}

// sleep waits, until the caller disconnects.
func (c *hookCall) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.request.Context().Done():
	}
}

// pay runs the pipeline with the account's key. A secret that is refused, because the
// key was rotated, is renewed once.
func (c *hookCall) pay(facts *host.Facts) (answer response, err error) {
	for range 2 {
		secret, err := c.Hooks.Payers.Secret(c.request.Context(), c.hook)
		if err != nil {
			return response{}, err
		}
		answer.discard() // the first
		answer = c.serveKey(c.operation(facts), c.request, secret, "")
		if answer.status != http.StatusUnauthorized {
			break
		}
		c.Hooks.Payers.Drop(c.hook, secret)
	}
	return answer, nil
}

// operation returns the operation that decides about one address.
func (c *hookCall) operation(facts *host.Facts) *operation {
	return &operation{name: "hook", style: singleStyle, read: func(x *exchange, _ *http.Request) (job, *problem) {
		record, p := newIdempotencyRecord("hook "+c.hook.Name+" "+c.call.ID, x.request.Account(), c.body)
		return job{price: 1, record: record, work: func(x *exchange, ctx context.Context) (outcome, *problem) {
			return c.work(ctx, x, facts)
		}}, p
	}}
}

// work looks up MX records, if they matter, and decides.
func (c *hookCall) work(ctx context.Context, x *exchange, facts *host.Facts) (outcome, *problem) {
	r, err := result.Parse(facts.JSON)
	if err != nil {
		return outcome{}, internalProblem()
	}
	r.MX = true // not known to be without: the policy decides without MX first
	v := c.hook.Policy.Judge(&r)
	if v.Decision == signuphook.Allow && c.hook.Policy.NeedsMX() {
		if r.MX, err = c.lookUp(ctx, x, facts.Host); err != nil {
			return outcome{}, lookupProblem(err)
		}
		v = c.hook.Policy.Judge(&r)
	}
	c.verdict = v
	done := outcome{points: 1, body: c.hook.Answer(v, c.call)}
	tallyFacts(&done.found, facts)
	return done, nil
}

func (c *hookCall) lookUp(ctx context.Context, x *exchange, domain string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.hook.Timeout)
	defer cancel()
	return x.lookUp(ctx, domain)
}

// ofPipeline turns the pipeline's answer into the hook's. The account's usage is not
// the caller's business, so its headers are left out.
func (c *hookCall) ofPipeline(answer response) response {
	answer.usage, answer.quota, answer.allowOrigin = nil, nil, ""
	own := answer
	switch answer.status {
	case http.StatusOK:
		c.count(c.decision(answer.replayed))
	case http.StatusUnprocessableEntity:
		own = c.refuse("refused", idemMismatch.with("This sign-up was asked about with another body before; use a new webhook-id for each sign-up."))
	default:
		own = c.unchecked(answer.body)
	}
	own.afterSend = answer.afterSend
	return own
}

// decision returns the label of an answer of the pipeline.
func (c *hookCall) decision(replayed bool) string {
	if replayed {
		return "replayed"
	}
	return string(c.verdict.Decision)
}

// decided answers without a charge.
func (c *hookCall) decided(v signuphook.Verdict) response {
	c.count(string(v.Decision))
	return response{status: http.StatusOK, body: c.hook.Answer(v, c.call)}
}

// unchecked answers by on_error and logs why: a problem of the API or an error, which
// have no address. The log has at most one such line a second (origin/logging).
func (c *hookCall) unchecked(why []byte) response {
	v := c.hook.UncheckedVerdict()
	c.count(string(v.Decision) + "_unchecked")
	c.Log.Warn("a sign-up was decided by on_error", slog.String("hook", c.hook.Name),
		slog.String("decision", string(v.Decision)), slog.String("problem", string(why)))
	return response{status: http.StatusOK, body: c.hook.Answer(v, c.call)}
}
