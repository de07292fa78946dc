package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/signuphook"
	"github.com/addrspec/addrspec/wasm/host"
)

// A sign-up hook is POST /v1/hooks/{name}: a sign-up system asks whether an address may
// sign up. The hooks are those of the file of --hooks (origin/signuphook). The caller
// has no API key: it signs its request, and the account of the file pays. The steps are
//
//	route, method            404, 405
//	headers of the signature 401, before the body is read
//	body                     429, 503; 415, 413, 400
//	signature                401
//	rate of the hook         429
//	content                  400
//	check, charge, respond   200 (hookdecision.go)
//
// From the check on, the response is always a decision: on_error makes it where a check
// is hindered. So a caller never has to interpret a problem of an account that is not
// its own.
const hookPrefix = "/v1/hooks/"

var hookRoute = route{"hook", writing, (*Server).hook}

// maxHookBody is the longest body of a hook in bytes. A user's record may have metadata
// of the user's own.
const maxHookBody = 256 << 10

// isHook reports whether path, which begins with hookPrefix, is that of a hook. The
// name is compared as it was sent: an encoded one is not a name.
func (s *Server) isHook(path string) bool {
	return s.Hooks.Find(strings.TrimPrefix(path, hookPrefix)) != nil
}

func (s *Server) hook(r *http.Request) response {
	h := s.Hooks.Find(strings.TrimPrefix(r.URL.EscapedPath(), hookPrefix))
	if h == nil { // a reload removed it
		return s.notFound(r)
	}
	c := &hookCall{Server: s, hook: h, request: r}
	c.x = &exchange{Server: s, memory: reservation{budget: s.Memory, account: hookMemory(h)}}
	responded := false
	defer func() {
		if !responded { // a panic
			c.x.releaseMemory()
		}
	}()
	resp := c.respond()
	responded = true
	sent := resp.afterSend
	resp.afterSend = func() {
		c.x.releaseMemory()
		if sent != nil {
			sent()
		}
	}
	return resp
}

// A hookCall is one call of a hook.
type hookCall struct {
	*Server
	hook    *signuphook.Hook
	request *http.Request
	x       *exchange // reserves the memory of the body; it has no account
	body    []byte
	call    signuphook.Call
	verdict signuphook.Verdict // of the work
}

// respond runs the steps until a problem ends them.
func (c *hookCall) respond() response {
	id, wrong := signuphook.CheckHeaders(c.request.Header, time.Now())
	if wrong != "" {
		return c.refuse("unsigned", invalidSignature.with(wrong))
	}
	if p := c.readBody(); p != nil {
		return c.refuse("refused", p)
	}
	if wrong := c.hook.Verify(c.body, c.request.Header); wrong != "" {
		return c.refuse("unsigned", invalidSignature.with(wrong))
	}
	if !c.hook.Allow() {
		return c.refuse("refused", retryAfter(tooMany.with("Rate limit exceeded: the hook gets more sign-ups than its rate allows; wait 1 seconds."), time.Second))
	}
	if c.call, wrong = c.hook.Read(c.body, id); wrong != "" {
		return c.refuse("refused", invalidRequest.with(wrong))
	}
	return c.decide()
}

// refuse returns a problem and counts it.
func (c *hookCall) refuse(as string, p *problem) response {
	c.count(as)
	return p.response(flat)
}

func (c *hookCall) count(decision string) {
	c.Metrics.hooks.WithLabelValues(c.hook.Name, decision).Inc()
}

// readBody reads the body. Its signature is not known yet: its bytes are counted as
// they arrive, against a share of the memory budget that is the hook's own.
func (c *hookCall) readBody() (p *problem) {
	c.body, p = c.x.readLimited(c.request, maxHookBody)
	switch {
	case p == nil && len(c.body) == 0:
		return invalidRequest.with("The request has no body.")
	case p != nil && p.code == bodyTooLarge:
		return bodyTooLarge.with("The body is over 256 KiB; send less about the user.")
	}
	return p
}

// hookMemory is the number under which the memory budget counts a hook's bodies.
// Accounts have positive numbers.
func hookMemory(h *signuphook.Hook) int64 {
	sum := int64(0)
	for _, b := range []byte(h.Name) {
		sum = (sum*31 + int64(b)) % (1 << 40)
	}
	return -1 - sum
}

// hooksInProgress lets one call at a time decide about a sign-up, so that a retry that
// arrives before the first call gets a response gets the same response.
type hooksInProgress struct{ locks keyedLock }

// lock waits until no other call decides about the sign-up, or ctx ends.
func (u *hooksInProgress) lock(ctx context.Context, h *signuphook.Hook, c signuphook.Call) (unlock func(), err error) {
	return u.locks.lock(ctx, h.Name+" "+c.ID)
}

// The decision about a sign-up costs what GET /v1/email/{email} costs: one point, none
// for an address that is not valid, and none if on_error decides. It runs through the
// same pipeline, with a key of the account. The response is stored as for an
// Idempotency-Key: a further call about the same sign-up gets the same bytes and costs
// nothing.

// decide responds with a decision.
func (c *hookCall) decide() response {
	if c.call.Email == "" {
		return c.decided(c.hook.NoEmailVerdict())
	}
	view := c.Engine.View()
	facts, err := c.check(view)
	if err != nil {
		c.logError("a hook's check failed", err)
		return c.unchecked([]byte("the module failed"))
	}
	if !facts.Valid {
		return c.invalid(view, &facts)
	}
	unlock, err := c.hooksInProgress.lock(c.request.Context(), c.hook, c.call)
	if err != nil {
		return c.unchecked([]byte("the caller closed its side of the connection"))
	}
	defer unlock()
	return c.charged(view, &facts)
}

// invalid decides about an address that is not valid, which needs no lookup.
func (c *hookCall) invalid(view *host.View, facts *host.Facts) response {
	v, err := c.hook.Decide(c.request.Context(), view, facts, nil)
	if err != nil {
		c.logError("a hook's verdict failed", err)
		return c.unchecked([]byte("the module failed"))
	}
	return c.decided(v)
}

// check runs the module on the address.
func (c *hookCall) check(view *host.View) (host.Facts, error) {
	ctx, cancel := context.WithTimeout(c.request.Context(), c.hook.Timeout)
	defer cancel()
	return view.Check(ctx, nil, c.call.Email, c.Flags&^host.FullSuggestion)
}

// charged runs the pipeline for a valid address. It waits for the account's rate while
// the hook's timeout allows: a person who signs up rather waits a second than tries
// again.
func (c *hookCall) charged(view *host.View, facts *host.Facts) response {
	end := time.Now().Add(c.hook.Timeout)
	for {
		resp, err := c.pay(view, facts)
		if err != nil {
			return c.unchecked([]byte(err.Error()))
		}
		if resp.status != http.StatusTooManyRequests || resp.retryAfter == 0 || time.Now().Add(resp.retryAfter).After(end) {
			return c.ofPipeline(resp)
		}
		resp.discard()
		c.sleep(resp.retryAfter)
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
func (c *hookCall) pay(view *host.View, facts *host.Facts) (resp response, err error) {
	for range 2 {
		secret, err := c.Hooks.Payers.Secret(c.request.Context(), c.hook)
		resp.discard() // the first, also if there is no second
		if err != nil {
			return response{}, err
		}
		resp = c.serveKey(c.operation(view, facts), c.request, secret, "", nil)
		if resp.status != http.StatusUnauthorized {
			break
		}
		c.Hooks.Payers.Drop(c.hook, secret)
	}
	return resp, nil
}

// operation returns the operation that decides about one address.
func (c *hookCall) operation(view *host.View, facts *host.Facts) *operation {
	return &operation{name: "hook", style: singleStyle, read: func(x *exchange, _ *http.Request) (job, *problem) {
		record, p := newIdempotencyRecord("hook "+c.hook.Name+" "+c.call.ID, x.request.Account(), c.body)
		return job{price: 1, record: record, work: func(x *exchange, ctx context.Context) (outcome, *problem) {
			return c.work(ctx, x, view, facts)
		}}, p
	}}
}

// work decides, with a lookup if that matters.
func (c *hookCall) work(ctx context.Context, x *exchange, view *host.View, facts *host.Facts) (outcome, *problem) {
	v, err := c.hook.Decide(ctx, view, facts, x.lookUp)
	if failed := (*signuphook.LookupError)(nil); errors.As(err, &failed) {
		return outcome{}, lookupProblem(failed.Err)
	}
	if err != nil {
		return outcome{}, x.moduleProblem(ctx, err)
	}
	c.verdict = v
	done := outcome{points: 1, body: c.hook.Response(v, c.call)}
	tallyFacts(&done.found, facts)
	return done, nil
}

// ofPipeline turns the pipeline's response into the hook's. The account's usage is not
// the caller's business, so its headers are left out.
func (c *hookCall) ofPipeline(resp response) response {
	resp.usage, resp.quota, resp.allowOrigin = nil, nil, ""
	own := resp
	switch resp.status {
	case http.StatusOK:
		c.count(c.decision(resp.replayed))
	case http.StatusUnprocessableEntity:
		own = c.refuse("refused", idemMismatch.with("This sign-up was asked about with another body before; use a new webhook-id for each sign-up."))
	default:
		own = c.unchecked(resp.body)
	}
	own.afterSend = resp.afterSend
	return own
}

// decision returns the label of a response of the pipeline.
func (c *hookCall) decision(replayed bool) string {
	if replayed {
		return "replayed"
	}
	return string(c.verdict.Decision())
}

// decided responds without a charge.
func (c *hookCall) decided(v signuphook.Verdict) response {
	c.count(string(v.Decision()))
	return response{status: http.StatusOK, body: c.hook.Response(v, c.call)}
}

// unchecked responds by on_error and logs why: a problem of the API or an error, which
// have no address. The log has at most one such line a second (origin/service/logging).
func (c *hookCall) unchecked(why []byte) response {
	v := c.hook.UncheckedVerdict()
	c.count(string(v.Decision()) + "_unchecked")
	c.Log.Warn("a sign-up was decided by on_error", slog.String("hook", c.hook.Name),
		slog.String("decision", string(v.Decision())), slog.String("problem", string(why)))
	return response{status: http.StatusOK, body: c.hook.Response(v, c.call)}
}

// A keyedLock is a lock for each key. It holds only the keys that are locked. The zero
// value is ready to use.
type keyedLock struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the lock is released
}

// lock locks key. It waits while another caller holds it, until ctx ends.
func (l *keyedLock) lock(ctx context.Context, key string) (unlock func(), err error) {
	for {
		released, taken := l.try(key)
		if !taken {
			return func() { l.release(key, released) }, nil
		}
		select {
		case <-released:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// try locks key and returns taken false, or returns the channel of who holds it.
func (l *keyedLock) try(key string) (released chan struct{}, taken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held := l.held[key]; held != nil {
		return held, true
	}
	if l.held == nil {
		l.held = map[string]chan struct{}{}
	}
	released = make(chan struct{})
	l.held[key] = released
	return released, false
}

func (l *keyedLock) release(key string, released chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, key)
	close(released)
}
