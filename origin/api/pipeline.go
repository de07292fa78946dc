package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/wasm/host"
)

// An operation describes what differs between the endpoints that need a key: how
// the input is read, what it costs, the shape of problems, the work and the
// response. The pipeline does the rest.
type operation struct {
	name string // in logs and metrics

	// guard is called before all other steps; it may be nil.
	guard func(*Server, http.Header) *problem
	// instead may respond before a token is taken and the body is read, or return the
	// policy of the request; it may be nil.
	instead func(s *Server, r *http.Request, secret, page string) (resp response, found *host.Policy, done bool)
	// style is the style of problems, unless the job has another.
	style *problemStyle
	// read reads and checks the input: 415, 413, 400. A job returned with a
	// problem may set its style.
	read func(*exchange, *http.Request) (job, *problem)
}

// A job is the valid input of one request.
type job struct {
	// style replaces the operation's if it is not nil.
	style *problemStyle
	// price is the most that the work can cost, in points; 0 if it is free.
	price int64
	// record is not nil if the request carries an Idempotency-Key.
	record *idempotencyRecord
	// work does the work. It stops when ctx ends and returns what is finished.
	work func(x *exchange, ctx context.Context) (outcome, *problem)
}

// An outcome is the result of the work.
type outcome struct {
	points int64        // for what is finished; equal to the price if all is
	found  ledger.Found // counts of the addresses that are charged
	body   []byte       // the response
}

// A problemStyle describes the problems of an operation.
type problemStyle struct {
	// inputShape is the shape of problems with the request's input.
	inputShape shape
	// insufficientPoints returns the problem of a request that needs more points
	// than are left.
	insufficientPoints func(d ledger.Decision, required int64) *problem
}

var (
	singleStyle = &problemStyle{flat, insufficientForSingle}
	batchStyle  = &problemStyle{enveloped, insufficientForBatch}
)

// The pipeline runs the steps of the contract; the first problem ends it. The
// order of the steps is defined here only:
//
//	route                       404, 405 (server.go)
//	guard                       403, the edge endpoint only
//	key, without a lookup      401
//	instead                     200, 204, the edge endpoint only
//	Begin: ledger, key, rate    503, 401, 429 (401 also for a wrong Origin)
//	read: memory, input, policy 429, 503; 415, 413, 400
//	Claim: record, points       409, 422, replay, then 402 or 429
//	work                        503, 500
//	Charge: one transaction     any decision of Begin and Claim again
//	respond                     200
//
// No byte of the body is read before Begin has accepted the request. After that,
// the request is ended exactly once: when its response is sent, or earlier if it is
// not charged.

// serve serves one request for op.
func (s *Server) serve(op *operation, r *http.Request) response {
	if op.guard != nil {
		if p := op.guard(s, r.Header); p != nil {
			return p.response(op.style.inputShape)
		}
	}
	secret, p := readKey(r.Header)
	if p != nil {
		return p.response(op.style.inputShape)
	}
	page, found := pageOrigin(r.Header), (*host.Policy)(nil)
	if op.instead != nil {
		resp, p, done := op.instead(s, r, secret, page)
		if done {
			return resp
		}
		found = p
	}
	return s.serveKey(op, r, secret, page, found)
}

// serveKey runs the steps from Begin on, for a key and the Origin of the page that uses
// it. The policy may be nil.
func (s *Server) serveKey(op *operation, r *http.Request, secret, page string, p *host.Policy) response {
	request, decision, err := s.Ledger.Begin(r.Context(), secret, page)
	x := &exchange{Server: s, start: time.Now(), op: op, style: op.style, request: request, caller: r.Context(), allowOrigin: decision.AllowOrigin, policy: p}
	if p := x.judge(decision, err, 0); p != nil {
		return x.respond(success{}, p)
	}
	x.memory = reservation{budget: s.Memory, account: request.Account()}
	x.headerBytes = connOf(r.Context()).headerSize()
	return x.run(r)
}

// An exchange is one request between Begin and End.
type exchange struct {
	*Server
	start       time.Time
	op          *operation
	style       *problemStyle // of op, or of the job
	request     Request
	caller      context.Context
	charged     bool
	memory      reservation
	headerBytes int             // reserved for the header
	usage       *ledger.Usage   // of the last decision
	quota       *ledger.Quota   // likewise
	allowOrigin string          // whose pages may read the response; may be empty
	view        *host.View      // the lists of a single request
	facts       host.Facts      // of its address
	policy      *host.Policy    // nil for none
	edgeMX      string          // for a worker that wants a brief response; else empty
	edgePolicy  string          // confirms the policy of a worker's request; may be empty
	buffer      *responseBuffer // the response may be in it; nil if it has its own
}

// A success is the body of a 200.
type success struct {
	body     []byte
	replayed bool // body was stored for the Idempotency-Key
}

// run runs the steps after Begin. It returns 500 if one of them panics.
func (x *exchange) run(r *http.Request) (resp response) {
	defer func() {
		if cause := recover(); cause != nil {
			x.logPanic(x.op.name, cause)
			resp = x.respond(success{}, internalProblem())
		}
		resp.afterSend = x.finish(resp.status)
	}()
	return x.respond(x.steps(r))
}

// finish ends the request and returns a function to call once the response is sent.
// A charged request ends only then, since the ledger counts charges whose responses
// are not sent. Any other request ends at once, so that its points and slots are
// free for the caller's next one.
func (x *exchange) finish(status int) (sent func()) {
	if status/100 == 2 {
		x.request.Succeeded()
	}
	if x.charged {
		return func() { x.request.End(); x.releaseMemory() }
	}
	x.request.End()
	return x.releaseMemory
}

// releaseMemory releases the memory of the request and its response, which nothing may
// read afterwards.
func (x *exchange) releaseMemory() {
	x.releaseResponse()
	x.memory.set(0)
}

// steps runs the steps from the input to the charge.
func (x *exchange) steps(r *http.Request) (success, *problem) {
	if p := x.reserveHeader(r.Context()); p != nil {
		return success{}, p
	}
	job, p := x.read(r)
	if p != nil {
		return success{}, p
	}
	stored, p := x.claim(&job)
	if p != nil || stored != nil {
		return success{body: stored, replayed: true}, p
	}
	done, p := x.work(&job)
	if p != nil {
		return success{}, p
	}
	return x.charge(&job, done)
}

// read reads the input and sets the style of problems from then on.
func (x *exchange) read(r *http.Request) (job, *problem) {
	job, p := x.op.read(x, r)
	if job.style != nil {
		x.style = job.style
	}
	if late := x.late(); late != nil {
		return job, late
	}
	return job, p
}

// loadPolicy sets the policy of the request: that with the name, or the key's default for
// "". The request keeps it to its end, whatever becomes of it in the database.
func (x *exchange) loadPolicy(name string) *problem {
	stored, err := x.request.Policy(name)
	switch {
	case errors.Is(err, ledger.ErrNoPolicy) && name == "":
		return invalidRequest.with("The default policy of the key does not exist; give the key another one, or name a policy.")
	case errors.Is(err, ledger.ErrNoPolicy):
		return invalidRequest.with("The account has no policy " + name + "; 'addrspec policy list' and the dashboard show those that it has.")
	case err != nil:
		return x.judge(ledger.Decision{}, err, 0)
	case stored == nil:
		return nil
	}
	if x.policy, err = x.accept(x.request.Context(), stored); err != nil {
		return x.policyProblem(stored, err)
	}
	return nil
}

// accept returns the policy of a stored document.
func (s *Server) accept(ctx context.Context, stored *ledger.Policy) (*host.Policy, error) {
	accepted, err := stored.Accepted(func() (any, error) { return s.Engine.NewPolicy(ctx, stored.Document) })
	if err != nil {
		return nil, err
	}
	return accepted.(*host.Policy), nil
}

// policyProblem returns the problem of a stored policy that cannot be used, such as one that
// a later release has stored. The error may quote the document, so it is not logged.
func (x *exchange) policyProblem(stored *ledger.Policy, err error) *problem {
	if _, refused := errors.AsType[*host.PolicyError](err); !refused {
		return x.moduleProblem(x.request.Context(), err)
	}
	x.logError("a stored policy is refused; set it again, or upgrade", fmt.Errorf("account %d, policy %s, version %d", stored.Account, stored.Name, stored.Version))
	return internalProblem()
}

// claim checks the Idempotency-Key and the points. It returns the stored response
// if the request got a response before.
func (x *exchange) claim(j *job) (stored []byte, p *problem) {
	if j.price == 0 {
		return nil, nil
	}
	decision, err := x.request.Claim(j.price, j.record.identity())
	if p := x.judge(decision, err, j.price); p != nil {
		return nil, p
	}
	if decision.Kind == ledger.Replayed {
		return x.replay(j, decision)
	}
	return nil, nil
}

// work does the job, until the client disconnects or the ledger refuses the
// request late.
func (x *exchange) work(j *job) (outcome, *problem) {
	done, p := j.work(x, x.request.Context())
	if p != nil && p.status == http.StatusTooManyRequests {
		x.request.WorkRefused()
	}
	if late := x.late(); late != nil {
		return done, late
	}
	if x.caller.Err() != nil {
		return done, x.cancelled()
	}
	if p == nil && done.points == 0 && j.price > 0 {
		p = unfinishedProblem()
	}
	return done, p
}

// charge charges the finished work and stores a complete response for the
// Idempotency-Key. If another replica has committed first, its response is
// returned.
func (x *exchange) charge(j *job, done outcome) (success, *problem) {
	if done.points == 0 {
		return success{body: done.body}, nil
	}
	charge := ledger.Charge{Points: done.points, Found: done.found}
	if done.points == j.price {
		charge.Response = j.record.seal(done.body)
	}
	decision, err := x.request.Charge(charge)
	if p := x.judge(decision, err, done.points); p != nil {
		return success{}, p
	}
	if decision.Kind == ledger.Replayed {
		stored, p := x.replay(j, decision)
		return success{body: stored, replayed: true}, p
	}
	x.charged = true
	return success{body: done.body}, nil
}

// replay decrypts a stored response.
func (x *exchange) replay(j *job, d ledger.Decision) ([]byte, *problem) {
	body, err := j.record.open(d.Response)
	if err != nil {
		x.logError("cannot open a stored response", err)
		return nil, internalProblem()
	}
	return body, nil
}

// judge stores the usage of a decision of the ledger and returns its problem, or
// nil. required is the number of points that were requested.
func (x *exchange) judge(d ledger.Decision, err error, required int64) *problem {
	switch {
	case err != nil && x.caller.Err() != nil && errors.Is(err, context.Canceled):
		return x.cancelled()
	case err != nil && x.request != nil && x.late() != nil: // which has ended the request's context
		return x.late()
	case err != nil:
		if x.caller.Err() == nil {
			x.logError("the ledger failed", err)
		}
		return ledgerProblem(err)
	}
	x.usage = d.Usage // nil if the key is no longer good
	if d.Quota != nil {
		x.quota = d.Quota
	}
	if d.Kind == ledger.Good {
		return nil
	}
	return decisionProblem(d, x.style, required)
}

// late returns the problem of a request whose token was refused while it was
// in progress, or nil.
func (x *exchange) late() *problem {
	decision, refused := x.request.Late()
	if !refused {
		return nil
	}
	return x.judge(decision, nil, 0)
}

// respond returns the response of done, or of p if it is not nil.
func (x *exchange) respond(done success, p *problem) response {
	resp := response{status: http.StatusOK, body: done.body, replayed: done.replayed}
	if x.edgeMX != "" {
		resp.status, resp.edgeMX = http.StatusNoContent, x.edgeMX
	}
	if p != nil {
		resp = p.response(x.style.inputShape)
		resp.clientClosed = resp.clientClosed || resp.status == http.StatusServiceUnavailable && x.clientClosed()
	}
	x.reserveResponse(len(resp.body))
	resp.usage, resp.quota, resp.allowOrigin, resp.edgePolicy = x.usage, x.quota, x.allowOrigin, x.edgePolicy
	return resp
}

// clientClosed reports whether the client has closed its side of the connection.
// A client that has only stopped writing and still reads cannot be distinguished:
// TCP sends a FIN for both. The end of the grace period cancels requests as well,
// and is not counted here.
func (x *exchange) clientClosed() bool { return x.caller.Err() != nil && x.stopping.Err() == nil }

// cancelled returns the problem of a request that was cancelled.
func (x *exchange) cancelled() *problem {
	if !x.clientClosed() {
		return unavailable("The request was cancelled before it was finished; nothing was charged.")
	}
	p := unavailable("The client closed its side of the connection before the response was ready, which cancels the request; nothing was charged. Keep both directions open until the response has arrived.")
	p.clientClosed = true
	return p
}

// reserveHeader reserves memory for a header that is longer than usualHeader.
func (x *exchange) reserveHeader(ctx context.Context) *problem {
	if x.headerBytes <= usualHeader {
		x.headerBytes = 0
		return nil
	}
	if err := x.reserve(ctx, 0, 0); err != nil {
		return bodyProblem(err, 0)
	}
	return nil
}

// reserveResponse replaces the reservation for the body by one for the response, or for its
// buffer, until that is sent.
func (x *exchange) reserveResponse(size int) {
	if x.buffer != nil {
		size = max(size, len(x.buffer))
	}
	if x.request != nil {
		x.memory.set(int64(x.headerBytes + size))
	}
}

// Ledger checks keys, rates and points. [FromLedger] adapts a *ledger.Ledger.
type Ledger interface {
	// Begin checks the key, its browser origins and the rate. With the decision
	// Good it returns a Request, whose End must be called.
	Begin(ctx context.Context, secret, origin string) (Request, ledger.Decision, error)
	// Peek judges a request as Begin does and takes no token. The account is 0 for a key that
	// is not good.
	Peek(ctx context.Context, secret, origin string) (account int64, d ledger.Decision, err error)
	// Prospect returns what a request would be that names a policy, or "" for the key's
	// default; zero if Begin would refuse it. It takes no token.
	Prospect(ctx context.Context, secret, origin, name string) ledger.Prospect
	// Ready returns an error if requests cannot be charged at the moment.
	Ready(ctx context.Context) error
}

// Request is a request in progress. ledger.Request documents the methods.
type Request interface {
	Account() int64
	Test() bool
	Context() context.Context
	Late() (refusal ledger.Decision, refused bool)
	Inspect() (ledger.Decision, error)
	Policy(name string) (*ledger.Policy, error)
	Claim(price int64, once *ledger.Idempotency) (ledger.Decision, error)
	WorkRefused()
	Succeeded()
	Charge(ledger.Charge) (ledger.Decision, error)
	End()
}

// FromLedger returns l as a Ledger.
func FromLedger(l *ledger.Ledger) Ledger { return adapter{l} }

type adapter struct{ *ledger.Ledger }

// Begin returns a nil interface for a nil request, not one with a nil pointer.
func (a adapter) Begin(ctx context.Context, secret, origin string) (Request, ledger.Decision, error) {
	request, decision, err := a.Ledger.Begin(ctx, secret, origin)
	if request == nil {
		return nil, decision, err
	}
	return request, decision, err
}
