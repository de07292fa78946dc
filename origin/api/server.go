// Package api is the HTTP API of the origin:
//
//	GET  /v1/email/{email}   checks one address
//	POST /v1/emails          checks up to 64 addresses
//	GET  /v1/usage           returns what the account has used and has left
//	POST /v1/hooks/{name}    decides about a sign-up (hook.go)
//	POST /mcp                serves assistants (package mcp), by the operations above
//	POST /v1/edge/admit      charges and looks up MX for an edge worker (edge.go)
//	GET  /healthz, /readyz, /metrics, /openapi.json
//
// The first three and the edge's are operations (exchange.go): functions that run between Begin and End of
// the ledger. Package wire is below them: it reads requests and sends responses, which are values.
// Package conn has the connections. Facts come from the module (wasm/host), never from core, so origin and
// edge cannot differ. No address and no key is logged, measured or repeated in an error.
package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/limit"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/signuphook"
	"github.com/addrspec/addrspec/wasm/host"
)

// Config configures a Server.
type Config struct {
	Engine   *host.Engine
	Ledger   Ledger
	Resolver Resolver
	Log      *slog.Logger
	Metrics  *Metrics

	// BatchTimeout is how long the work of a batch may take. Then the response has what is finished.
	BatchTimeout time.Duration
	// EdgeSecrets are the secrets of the deployment's workers, each of which is accepted. Without one,
	// there is no edge endpoint.
	EdgeSecrets []string
	// Flags are the module's flags for every address.
	Flags host.Flags
	// OperatorApart means that Operator has its own listener. The Server then returns 404 for /metrics
	// and /readyz.
	OperatorApart bool
	// Memory is the most bytes that requests in progress use; DefaultMemory if 0.
	Memory int
	// Hooks are the sign-up hooks; nil for none.
	Hooks *signuphook.Registry
	// Distrusted reports whether lookups fail because the resolvers lie, so that no requests should come;
	// nil if that cannot be.
	Distrusted func() bool
	// Pages serves the paths outside the API; nil for none.
	Pages Pages
	// MCP serves assistants at /mcp; nil for none.
	MCP MCP
}

// Server is the HTTP handler. It is safe for concurrent use.
type Server struct {
	Config
	// SecurityTxt is served at /.well-known/security.txt; nil for none. It may change while the Server
	// serves.
	SecurityTxt atomic.Pointer[[]byte]

	memory *limit.Limiter[owner]
	// Verdicts have all instances of the module but one, since an instance that reads a large policy again
	// takes long: accounts take turns, and what needs no policy waits for none of them.
	policies *limit.Limiter[owner]
	// One call at a time decides about a sign-up, so that a retry that arrives before the first call is
	// done gets the same response.
	signUps  *limit.Limiter[string]
	unserved *rate.Limiter // of log lines
	leftOut  atomic.Int64  // log lines since the last one
	leaving  atomic.Bool   // clients should
	stopping context.Context
	stop     context.CancelFunc
}

// New returns a Server with configuration c.
func New(c Config) *Server {
	if c.Memory == 0 {
		c.Memory = DefaultMemory
	}
	s := &Server{Config: c, memory: newMemory(c.Memory), unserved: rate.NewLimiter(unservedLines, unservedLines)}
	instances := max(1, c.Engine.View().Size()-1)
	s.policies = limit.New[owner](limit.Config{Units: instances, PerOwner: instances, Waiting: maxWaiting, WaitingPerOwner: maxWaitOne})
	s.signUps = limit.New[string](limit.Config{Units: maxWaiting, PerOwner: 1, Waiting: maxWaiting, WaitingPerOwner: maxWaitOne})
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// Drain makes clients leave: /readyz is 503, and all further responses have "Connection: close" (RFC 9112
// section 9.6). Requests are served as before.
func (s *Server) Drain() { s.leaving.Store(true) }

// Stop is Drain, and ends the work of batches in progress, which get what is finished.
func (s *Server) Stop() {
	s.Drain()
	s.stop()
}

// MemoryInUse returns how many bytes requests in progress use; see Config.Memory.
func (s *Server) MemoryInUse() int { return s.memory.Used() }

// Ledger checks keys, rates and points. [FromLedger] adapts a *ledger.Ledger.
type Ledger interface {
	// Begin checks the key, its browser origins and the rate. With the decision Good it returns a
	// Request, whose End must be called.
	Begin(ctx context.Context, secret, origin string) (Request, ledger.Decision, error)
	// BeginDashboard is Begin for somebody who is signed in to an account.
	BeginDashboard(ctx context.Context, account int64) (Request, ledger.Decision, error)
	// Peek judges a request as Begin does and takes no token. The account is 0 for a key that is not good.
	Peek(ctx context.Context, secret, origin string) (account int64, d ledger.Decision, err error)
	// Forwards reports whether an edge worker must forward the requests with a key; false if Begin would
	// refuse one. It takes no token.
	Forwards(ctx context.Context, secret, origin string) bool
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
	Policy(name string) (*ledger.SharedPolicy, error)
	Claim(price int64, once *ledger.Idempotency) (ledger.Decision, error)
	WorkRefused()
	Succeeded()
	Charge(ledger.Charge) (ledger.Decision, error)
	End()
}

// FromLedger returns l as a Ledger.
func FromLedger(l *ledger.Ledger) Ledger { return adapter{l} }

type adapter struct{ *ledger.Ledger }

func (a adapter) Begin(ctx context.Context, secret, origin string) (Request, ledger.Decision, error) {
	return orNil(a.Ledger.Begin(ctx, secret, origin))
}

func (a adapter) BeginDashboard(ctx context.Context, account int64) (Request, ledger.Decision, error) {
	return orNil(a.Ledger.BeginDashboard(ctx, account))
}

// orNil returns a nil interface for a nil request, not one with a nil pointer.
func orNil(r *ledger.Request, d ledger.Decision, err error) (Request, ledger.Decision, error) {
	if r == nil {
		return nil, d, err
	}
	return r, d, err
}

// Resolver looks up the MX records of domains in A-label form.
type Resolver interface {
	// Lookup looks up the exchanges of domain. The resolver is shared fairly between accounts.
	Lookup(ctx context.Context, account int64, domain string) (mx.Result, error)
	// LookupAddress is Lookup, and looks up the address record if mail would go to it.
	LookupAddress(ctx context.Context, account int64, domain string) (mx.Result, error)
	// Peek returns without a query; known is false if Lookup has to be called.
	Peek(domain string) (found mx.Result, known bool, err error)
	// PeekAddress is Peek for LookupAddress.
	PeekAddress(domain string) (found mx.Result, known bool, err error)
}

// Pages serves the paths outside the API.
type Pages interface {
	http.Handler
	// Has reports whether a request is for one of the pages.
	Has(r *http.Request) bool
}

// MCP responds to the messages of assistants (package mcp).
type MCP interface {
	// Respond responds to a message of the caller with the key, which is good. blocked is why an operation
	// with it would be refused now, "" if it would not. The body is JSON, or empty.
	Respond(r *http.Request, key string, message []byte, blocked string) (status int, body []byte)
}

// logEntry is what is logged and counted of a request: never the path, which has
// an address, nor a header, which may be a key.
type logEntry struct {
	route  string
	status int
	took   time.Duration
	id     string
	served bool // returned 200 to an account
}

// log counts a request and logs it.
func (s *Server) log(r logEntry) {
	s.Metrics.requests.WithLabelValues(r.route, strconv.Itoa(r.status)).Inc()
	s.Metrics.latency.WithLabelValues(r.route).Observe(r.took.Seconds())
	if !r.served && !s.unserved.Allow() {
		s.leftOut.Add(1)
		return
	}
	line := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0) // Logger would look for its caller, which is not logged
	line.AddAttrs(slog.String("route", r.route), slog.Int("status", r.status),
		slog.Float64("took_ms", float64(r.took.Microseconds())/1000), slog.String("request_id", r.id))
	if leftOut := s.leftOut.Swap(0); leftOut > 0 {
		line.AddAttrs(slog.Int64("left_out", leftOut))
	}
	if log := s.Log.Handler(); log.Enabled(s.stopping, slog.LevelInfo) {
		_ = log.Handle(s.stopping, line)
	}
}

// unservedLines is the number of lines a second for requests that are refused or have no account, so that
// callers without a key, or with a free key, cannot fill the disk. The metrics count all requests.
const unservedLines = 100

// logError logs an error for the operator. Errors of the ledger, the resolver and
// the module contain no address and no key.
func (s *Server) logError(what string, err error) {
	s.Log.Error(what, slog.String("error", err.Error()))
}

// logPanic logs the type of a panic's value, not the value, which may contain
// input.
func (s *Server) logPanic(route string, cause any) {
	s.Log.Error("panic", slog.String("route", route), slog.String("type", fmt.Sprintf("%T", cause)))
}
