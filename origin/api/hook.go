package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/signuphook"
	"github.com/addrspec/addrspec/wasm/host"
)

// A sign-up hook is POST /v1/hooks/{name}: a sign-up system asks whether an address may sign up. The hooks
// are those of the file of --hooks (origin/signuphook). The caller has no API key: it signs its request, or
// sends the hook's secret if it cannot sign, and the account of the file pays. The steps are
//
//	route, method            404, 405
//	headers of the signature 401, before the body is read; or the secret itself
//	body                     429, 503; 415, 413, 400
//	signature                401
//	rate of the hook         429
//	content                  400
//	check, charge, respond   200
//
// From the check on, the response is always a decision: on_error makes it where a check is hindered. So a
// caller never has to interpret a problem of an account that is not its own.
//
// A decision costs what GET /v1/email/{email} costs: one point, none for an address that is not valid, and
// none if on_error decides. The response is stored as for an Idempotency-Key: a further call about the same
// sign-up gets the same bytes and costs nothing. A mail of Supabase has no ID: each call is about another one.
const hookPrefix = "/v1/hooks/"

// hookBody is the body of a hook. A user's record may have metadata of the user's own.
var hookBody = wire.Body{
	Limit:   256 << 10,
	TooLong: "The body is over 256 KiB; send less about the user.",
	NotJSON: messageBody.NotJSON,
}

// A hookCall is one call of a hook.
type hookCall struct {
	*Server
	hook    *signuphook.Hook
	request *http.Request
	body    []byte
	call    signuphook.Call
	end     time.Time          // of the hook's timeout
	verdict signuphook.Verdict // of the work
}

func (s *Server) hook(r *http.Request) (resp wire.Response) {
	h := s.Hooks.Set().Find(strings.TrimPrefix(r.URL.EscapedPath(), hookPrefix))
	if h == nil { // a reload removed it
		return s.notFound(r)
	}
	// A signature is not known before the body is read, so the body counts as the hook's memory.
	x := &exchange{Server: s, memory: reservation{budget: s.memory, owner: owner{hook: h.Name}}}
	defer func() {
		if cause := recover(); cause != nil {
			x.memory.free()
			panic(cause)
		}
		pipeline := resp.AfterSend
		resp.AfterSend = func() {
			x.memory.free()
			if pipeline != nil {
				pipeline()
			}
		}
	}()
	c := &hookCall{Server: s, hook: h, request: r}
	id, wrong := h.CheckHeaders(r.Header, time.Now())
	if wrong != "" {
		p := wire.InvalidSignature.With(wrong)
		if h.Bearer() {
			p.Challenge = wire.TextChallenge
		}
		return c.refuse("unsigned", p)
	}
	body, p := x.readBody(r, hookBody)
	if p == nil && len(body) == 0 {
		p = wire.InvalidRequest.With("The request has no body.")
	}
	if p != nil {
		return c.refuse("refused", p)
	}
	if wrong := h.Verify(body, r.Header); wrong != "" {
		return c.refuse("unsigned", wire.InvalidSignature.With(wrong))
	}
	if !h.Allow() {
		return c.refuse("refused", wire.Limited("the hook gets more sign-ups than its rate allows; wait %s.",
			time.Second))
	}
	c.body = body
	c.call, wrong = h.Read(body, id)
	if wrong != "" {
		return c.refuse("refused", wire.InvalidRequest.With(wrong))
	}
	return c.decide()
}

// refuse returns a problem and counts it.
func (c *hookCall) refuse(as string, p *wire.Problem) wire.Response {
	c.count(as)
	return p.Response(wire.Flat)
}

func (c *hookCall) count(decision string) {
	c.Metrics.hooks.WithLabelValues(c.hook.Name, decision).Inc()
}

// decide responds with a decision.
func (c *hookCall) decide() wire.Response {
	if c.call.Email == "" {
		return c.decided(c.hook.NoEmailVerdict())
	}
	ctx, view := c.request.Context(), c.Engine.View()
	c.end = time.Now().Add(c.hook.Timeout)
	limited, cancel := context.WithDeadline(ctx, c.end)
	defer cancel()
	facts, err := c.hook.Check(limited, view, &c.call)
	if err != nil {
		c.logError("a hook's check failed", err)
		return c.unchecked("the module failed")
	}
	if !facts.Valid { // which needs no lookup
		v, err := c.hook.Decide(ctx, view, c.call.Email, &facts, nil)
		if err != nil {
			c.logError("a hook's verdict failed", err)
			return c.unchecked("the module failed")
		}
		return c.decided(v)
	}
	if c.call.ID == "" {
		return c.charged(view, &facts)
	}
	signUp := c.hook.Name + " " + c.call.ID
	if err := c.signUps.Take(ctx, signUp, 1); err != nil {
		return c.unchecked("the caller closed its side of the connection, or too many calls are about one sign-up")
	}
	defer c.signUps.Free(signUp, 1)
	return c.charged(view, &facts)
}

// charged decides about a valid address, with a key of the account. It waits for the account's rate while
// the hook's timeout allows, because a sign-up can wait a second; a retry would be worse. A key that is
// refused, because it was rotated, is renewed once.
func (c *hookCall) charged(view *host.View, facts *host.Facts) wire.Response {
	ctx, renewed := c.request.Context(), false
	for {
		secret, err := c.Hooks.Payers.Secret(ctx, c.hook)
		if err != nil {
			return c.unchecked(err.Error())
		}
		resp := c.serveKey(c.request, secret, "", "hook", wire.Flat, func(x *exchange, _ *http.Request) (wire.Response, *wire.Problem) {
			return c.work(x, view, facts)
		})
		wait, limited := time.Duration(0), resp.Status == http.StatusTooManyRequests && resp.RetryAfter > 0
		switch {
		case resp.Status == http.StatusUnauthorized && !renewed:
			renewed = true
			c.Hooks.Payers.Drop(c.hook, secret)
		case limited && time.Now().Add(resp.RetryAfter).Before(c.end):
			wait = resp.RetryAfter
		default:
			return c.ofPipeline(resp)
		}
		resp.Discard()
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

var errNoMemory = errors.New("there is no memory for a lookup")

// work decides, with a lookup if that matters, and charges the decision.
func (c *hookCall) work(x *exchange, view *host.View, facts *host.Facts) (none wire.Response, p *wire.Problem) {
	var once *record
	if c.call.ID != "" {
		once, p = newRecord("hook "+c.hook.Name+" "+c.call.ID, x.request.Account(), c.body)
		if p != nil {
			return none, p
		}
	}
	stored, replayed, p := x.claim(1, once)
	if p != nil || replayed {
		return stored, p
	}
	ctx, cancel := context.WithDeadline(x.request.Context(), c.end)
	defer cancel()
	v, err := c.hook.Decide(ctx, view, c.call.Email, facts, func(ctx context.Context, domain string, address bool) (host.Lookup, error) {
		l, refused := x.lookUp(ctx, domain, address)
		switch {
		case refused != nil:
			p = refused
			return host.Lookup{}, errNoMemory
		case !l.finished:
			return host.Lookup{}, ctx.Err()
		}
		return l.found, l.err
	})
	switch failed, is := errors.AsType[*signuphook.LookupError](err); {
	case is && p != nil:
		return none, p
	case is:
		return none, lookupProblem(failed.Err)
	case err != nil:
		return none, x.moduleProblem(ctx, err)
	}
	c.verdict = v
	return x.charge(1, foundIn([]*item{{facts: *facts}}), c.hook.Response(v, c.call))
}

// ofPipeline turns the pipeline's response into the hook's. The account's usage is not the caller's
// business, so its headers are left out.
func (c *hookCall) ofPipeline(resp wire.Response) wire.Response {
	resp.Usage, resp.Quota = nil, nil
	own := resp
	switch {
	case resp.Status == http.StatusOK && resp.Replayed:
		c.count("replayed")
	case resp.Status == http.StatusOK:
		c.count(string(c.verdict.Decision()))
	case resp.Status == http.StatusUnprocessableEntity:
		own = c.refuse("refused", wire.IdemMismatch.With("This sign-up was asked about with another body before; "+
			"use a new webhook-id for each sign-up."))
	default:
		own = c.unchecked(string(resp.Body))
	}
	own.AfterSend = resp.AfterSend
	return own
}

// decided responds without a charge.
func (c *hookCall) decided(v signuphook.Verdict) wire.Response {
	c.count(string(v.Decision()))
	return wire.Response{Status: http.StatusOK, Body: c.hook.Response(v, c.call)}
}

// unchecked responds by on_error and logs why: a problem of the API or an error, which have no address. The
// log has at most one such line a second (origin/service/logging).
func (c *hookCall) unchecked(why string) wire.Response {
	v := c.hook.UncheckedVerdict()
	c.count(string(v.Decision()) + "_unchecked")
	c.Log.Warn("a sign-up was decided by on_error", slog.String("hook", c.hook.Name),
		slog.String("decision", string(v.Decision())), slog.String("problem", why))
	return wire.Response{Status: http.StatusOK, Body: c.hook.Response(v, c.call)}
}
