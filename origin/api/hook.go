package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/signuphook"
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
//	check, charge, answer    200 (hookdecision.go)
//
// From the check on, the answer is always a decision: whatever hinders it is answered
// by on_error. So a caller never has to interpret a problem of an account that is not
// its own.
const hookPrefix = "/v1/hooks/"

var hookRoute = route{"hook", writing, (*Server).hook}

// maxHookBody is the longest body of a hook in bytes. A user's record may have metadata
// of the user's own.
const maxHookBody = 256 << 10

// isHook reports whether path is that of a hook. The name is compared as it was sent:
// an encoded one is not a name.
func (s *Server) isHook(path string) bool {
	name, found := strings.CutPrefix(path, hookPrefix)
	return found && s.Hooks.Find(name) != nil
}

func (s *Server) hook(r *http.Request) response {
	h := s.Hooks.Find(strings.TrimPrefix(r.URL.EscapedPath(), hookPrefix))
	if h == nil { // a reload removed it
		return s.notFound(r)
	}
	c := &hookCall{Server: s, hook: h, request: r}
	c.x = &exchange{Server: s, memory: reservation{budget: s.Memory, account: hookMemory(h)}}
	answer := c.answer()
	sent := answer.afterSend
	answer.afterSend = func() {
		c.x.releaseMemory()
		if sent != nil {
			sent()
		}
	}
	return answer
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

// answer runs the steps until a problem ends them.
func (c *hookCall) answer() response {
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
	r := c.request
	if r.ContentLength > maxHookBody {
		return hookTooLarge()
	}
	limited := r.WithContext(r.Context())
	limited.Body = http.MaxBytesReader(nil, r.Body, maxHookBody)
	c.body, p = c.x.readBody(limited)
	switch {
	case p == nil && len(c.body) == 0:
		return invalidRequest.with("The request has no body.")
	case p != nil && p.code == wrongMediaType:
		return wrongMediaType.with("Send the body as JSON, with the header Content-Type: application/json, and without a Content-Encoding.")
	case p != nil && p.code == invalidRequest && len(c.body) > maxHookBody:
		return hookTooLarge()
	}
	return p
}

func hookTooLarge() *problem {
	return bodyTooLarge.with("The body is over 256 KiB (262,144 bytes); send less about the user.")
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

// hooksUnderWay lets one call at a time decide about a sign-up, so that a retry that
// arrives before the first call is answered gets the same answer.
type hooksUnderWay struct{ locks keyedLock }

// lock waits until no other call decides about the sign-up, or ctx ends.
func (u *hooksUnderWay) lock(ctx context.Context, h *signuphook.Hook, c signuphook.Call) (unlock func(), err error) {
	return u.locks.lock(ctx, h.Name+" "+c.ID)
}
