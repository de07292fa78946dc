package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/addrspec/addrspec/wasm/host"
)

// Resolver reports whether a domain, in A-label form, publishes MX records.
type Resolver interface {
	// Lookup is done on behalf of an account; accounts share the resolver fairly.
	Lookup(ctx context.Context, account int64, domain string) (mx bool, err error)
	// Peek answers from the cache; known is false if Lookup has to be called.
	Peek(domain string) (mx, known bool, err error)
}

// Config is what a Server needs.
type Config struct {
	Engine   *host.Engine
	Ledger   Ledger
	Resolver Resolver
	Log      *slog.Logger
	Metrics  *Metrics

	// BatchTimeout is how long the work of a batch may take before it answers
	// with what is finished.
	BatchTimeout time.Duration
	// EdgeSecret is the secret of this deployment's workers; without one there
	// is no edge endpoint.
	EdgeSecret string
	// Flags are passed to the module with every address.
	Flags host.Flags
	// OperatorApart says that Operator has a listener of its own, so that this
	// handler has neither /metrics nor /readyz.
	OperatorApart bool
	// Bodies bounds the memory of requests under way; nil is the default.
	Memory *MemoryBudget
}

// Server is the HTTP handler. It is safe for concurrent use.
type Server struct {
	Config
	unservedLimit lineLimit
	stopping      context.Context
	stop          context.CancelFunc
}

// New returns a Server on c.
func New(c Config) *Server {
	s := &Server{Config: c}
	if s.Memory == nil {
		s.Memory = NewMemoryBudget(DefaultBodyMemory)
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// Stop makes batches under way answer with what is finished, and every answer
// from now on send Connection: close.
func (s *Server) Stop() { s.stop() }

// ServeHTTP answers the requests of callers and workers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, s.publicRoute(s.match(r)))
}

// answer answers r by its route, counts it and logs it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, route route) {
	conn := connOf(r.Context())
	if !conn.beginHandler() {
		panic(http.ErrAbortHandler) // nobody is left to answer
	}
	defer conn.endHandler()
	start := time.Now()
	id := requestID(strings.Join(r.Header.Values(headerRequestID), ","))
	watched, body := watchBody(r)
	answer := s.handle(route, watched)
	if answer.afterSend != nil {
		defer answer.afterSend()
	} else {
		conn.markIdle() // what no account has asked for may be read slowly only while there is room
	}
	if s.stopping.Err() != nil {
		w.Header().Set("Connection", "close")
	}
	if body.limitRest(w) {
		conn.lingerOnClose()
	} else {
		conn.expectRequest()
	}
	answer.send(w, id)
	s.log(logEntry{route.name, answer.loggedStatus(), time.Since(start), id, answer.served()})
}

// handle runs the route's handler; a panic in it is a 500 and does not end the
// connection.
func (s *Server) handle(route route, r *http.Request) (answer response) {
	defer func() {
		if cause := recover(); cause != nil {
			s.logPanic(route.name, cause)
			answer = internalProblem().response(flat)
		}
	}()
	return route.handle(s, r)
}
