package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/wasm/host"
)

// An operation is what an endpoint does for a request with a good key. Every operation has the order of
// the contract's checks; the first problem ends the request:
//
//	key, without a lookup       401                 serve
//	Begin: ledger, key, rate    503, 401, 429       serveKey (401 also for a wrong Origin)
//	memory, body, input, policy 429, 503; 415, 413, 400
//	claim: record, points       409, 422, replay, then 402 or 429
//	the work                    503, 500
//	charge: one transaction     any decision of Begin and Claim again
//
// No byte of the body is read before Begin has accepted the request. After that, the request is ended
// exactly once: when its response is sent, or earlier if it is not charged.
type operation func(x *exchange, r *http.Request) (wire.Response, *wire.Problem)

// An exchange is one request with a key, between Begin and End.
type exchange struct {
	*Server
	start       time.Time
	shape       wire.Shape // of problems with the input: Enveloped for a batch
	request     Request
	caller      context.Context
	memory      reservation
	usage       *ledger.Usage // of the last decision
	quota       *ledger.Quota // of the last decision
	allowOrigin string        // the origin whose pages may read the response; "" for none

	price             int64   // the points claimed
	record            *record // nil without an Idempotency-Key
	charging, charged bool
}

type accountKey struct{}

// As returns a context for requests of somebody who is signed in to an account, which need no key. Only
// this process can make it, since no request brings a context.
func As(ctx context.Context, account int64) context.Context {
	return context.WithValue(ctx, accountKey{}, account)
}

// serve serves a request for an operation.
func (s *Server) serve(r *http.Request, name string, shape wire.Shape, op operation) wire.Response {
	if account, ok := r.Context().Value(accountKey{}).(int64); ok {
		request, decision, err := s.Ledger.BeginDashboard(r.Context(), account)
		return s.serveBegun(r, request, decision, err, name, shape, op)
	}
	key, p := wire.ReadKey(r.Header)
	if p != nil {
		return p.Response(shape)
	}
	return s.serveKey(r, key, wire.PageOrigin(r.Header), name, shape, op)
}

// serveKey runs the steps from Begin on, for a key and the Origin of the page that uses it.
func (s *Server) serveKey(r *http.Request, key, page, name string, shape wire.Shape, op operation) wire.Response {
	request, decision, err := s.Ledger.Begin(r.Context(), key, page)
	return s.serveBegun(r, request, decision, err, name, shape, op)
}

// serveBegun runs the steps after Begin, which has returned a request, a decision and an error.
func (s *Server) serveBegun(r *http.Request, request Request, decision ledger.Decision, err error,
	name string, shape wire.Shape, op operation) (resp wire.Response) {
	x := &exchange{Server: s, start: time.Now(), shape: shape, request: request, caller: r.Context(),
		allowOrigin: decision.AllowOrigin}
	if p := x.judge(decision, err, 0); p != nil {
		return x.respond(wire.Response{}, p)
	}
	x.memory = reservation{budget: s.memory, owner: owner{account: request.Account()}}
	defer func() {
		if cause := recover(); cause != nil {
			s.logPanic(name, cause)
			resp = x.respond(wire.Response{}, wire.Defect())
		}
		if resp.Status/100 == 2 {
			request.Succeeded()
		}
		// The ledger counts charges whose responses are not sent, so a charged request ends only when its
		// response is sent. Any other request ends at once, so that its points and slots are free for the
		// caller's next request.
		if !x.charged {
			request.End()
		}
		resp.AfterSend = func() {
			if x.charged {
				request.End()
			}
			x.memory.free()
		}
	}()
	return x.respond(op(x, r))
}

// respond returns the response of an operation, or of its problem.
func (x *exchange) respond(resp wire.Response, p *wire.Problem) wire.Response {
	if p != nil && x.price > 0 && !x.charging && p.Status == http.StatusTooManyRequests {
		x.request.WorkRefused()
	}
	if first := x.interrupted(); first != nil {
		p = first
	}
	if p != nil {
		resp = p.Response(x.shape)
		resp.ClientClosed = resp.ClientClosed || p.Status == http.StatusServiceUnavailable && x.clientClosed()
	}
	resp.Usage, resp.Quota = x.usage, x.quota
	resp.AllowOrigin(x.allowOrigin)
	return resp
}

// interrupted returns the problem of a request that is not charged yet and cannot be any more, or nil: its
// token was refused while it was in progress, or its client has left.
func (x *exchange) interrupted() *wire.Problem {
	if x.request == nil || x.charging {
		return nil
	}
	if late, refused := x.request.Late(); refused {
		return x.judge(late, nil, 0)
	}
	if x.price > 0 && x.caller.Err() != nil {
		return x.cancelled()
	}
	return nil
}

// clientClosed reports whether the client has closed its side of the connection. A client that has only
// stopped writing and still reads cannot be distinguished, because TCP sends a FIN for both. The end of
// the grace period cancels requests too, and is not counted here.
func (x *exchange) clientClosed() bool { return x.caller.Err() != nil && x.stopping.Err() == nil }

// cancelled returns the problem of a request that was cancelled.
func (x *exchange) cancelled() *wire.Problem {
	if !x.clientClosed() {
		return wire.Unavailable(textCancelled)
	}
	p := wire.Unavailable("The client closed its side of the connection before the response was ready, which cancels " +
		"the request; nothing was charged. Keep both directions open until the response has arrived.")
	p.ClientClosed = true
	return p
}

// judge stores the usage of a decision of the ledger and returns its problem, or nil. required is the
// number of points that were requested.
func (x *exchange) judge(d ledger.Decision, err error, required int64) *wire.Problem {
	if err != nil && x.caller.Err() != nil && errors.Is(err, context.Canceled) {
		return x.cancelled()
	}
	if err != nil {
		if late := x.interrupted(); late != nil { // which has ended the request's context
			return late
		}
		if x.caller.Err() == nil {
			x.logError("the ledger failed", err)
		}
		return ledgerProblem(err)
	}
	x.usage = d.Usage // nil if the key is no longer good
	if d.Quota != nil {
		x.quota = d.Quota
	}
	if d.Kind == ledger.Good || d.Kind == ledger.Replayed {
		return nil
	}
	return decisionProblem(d, x.shape, required)
}

// policy returns the policy of the request: the account's with the name, or the key's default for "";
// nil for none. The request keeps it to its end, whatever becomes of it in the database.
func (x *exchange) policy(name string) (*host.Policy, *wire.Problem) {
	stored, err := x.request.Policy(name)
	switch {
	case errors.Is(err, book.ErrNoPolicy) && name == "":
		return nil, wire.InvalidRequest.With("The default policy of the key does not exist; give the key another one, " +
			"or name a policy.")
	case errors.Is(err, book.ErrNoPolicy):
		return nil, wire.InvalidRequest.With("The account has no policy " + name + "; 'addrspec policy list' and the " +
			"dashboard show those that it has.")
	case err != nil:
		return nil, x.judge(ledger.Decision{}, err, 0)
	case stored == nil:
		return nil, nil
	}
	accepted, err := stored.Accepted(func() (any, error) {
		return x.Engine.NewPolicy(x.request.Context(), stored.Document)
	})
	if err == nil {
		return accepted.(*host.Policy), nil
	}
	if _, refused := errors.AsType[*host.PolicyError](err); !refused {
		return nil, x.moduleProblem(x.request.Context(), err)
	}
	// A later release may have stored such a document. The error may quote it, so it is not logged.
	x.logError("a stored policy is refused; set it again, or upgrade",
		fmt.Errorf("account %d, policy %s, version %d", stored.Account, stored.Name, stored.Version))
	return nil, wire.Defect()
}

// claim claims the points that the work can cost at most, and looks for the Idempotency-Key, which may
// be nil. If a response is stored for it, replayed is true. A request with a test key claims nothing;
// its key is judged once more, because no charge does.
func (x *exchange) claim(price int64, once *record) (stored wire.Response, replayed bool, p *wire.Problem) {
	if x.request.Test() {
		decision, err := x.request.Inspect()
		return stored, false, x.judge(decision, err, 0)
	}
	if price == 0 {
		return stored, false, nil
	}
	var identity *ledger.Idempotency
	if once != nil {
		identity = &once.Idempotency
	}
	decision, err := x.request.Claim(price, identity)
	if p := x.judge(decision, err, price); p != nil {
		return stored, false, p
	}
	x.price, x.record = price, once
	if decision.Kind != ledger.Replayed {
		return stored, false, nil
	}
	stored, p = x.replay(decision)
	return stored, true, p
}

// replay returns the stored response of a decision.
func (x *exchange) replay(d ledger.Decision) (wire.Response, *wire.Problem) {
	x.charging = true
	body, err := x.record.open(d.Response)
	if err != nil {
		x.logError("cannot open a stored response", err)
		return wire.Response{}, wire.Defect()
	}
	return wire.Response{Status: http.StatusOK, Body: body, Replayed: true}, nil
}

// charge charges the finished work, whose response is body, and stores a complete response for the
// Idempotency-Key. If another replica has committed first, the response is that replica's.
func (x *exchange) charge(points int64, found book.Found, body []byte) (wire.Response, *wire.Problem) {
	if p := x.interrupted(); p != nil {
		return wire.Response{}, p
	}
	done := wire.Response{Status: http.StatusOK, Body: body}
	switch {
	case points == 0 && (x.price > 0 || x.request.Test()):
		return wire.Response{}, wire.Unavailable("The request ran out of time before anything was finished; " +
			"nothing was charged. Try again shortly.")
	case points == 0 || x.request.Test():
		return done, nil
	}
	charge := ledger.Charge{Points: points, Found: found}
	if points == x.price && x.record != nil {
		charge.Response = x.record.seal(body)
	}
	x.charging = true
	decision, err := x.request.Charge(charge)
	if p := x.judge(decision, err, points); p != nil {
		return wire.Response{}, p
	}
	if decision.Kind == ledger.Replayed {
		return x.replay(decision)
	}
	x.charged = true
	return done, nil
}
