package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/wasm/host"
)

// Ledger decides who may ask and what it costs.
type Ledger interface {
	Admit(context.Context, ledger.Request) (ledger.Admission, error)
	Settle(context.Context, ledger.Admission, ledger.Settlement) (ledger.Usage, error)
	Ping(context.Context) error
}

// Resolver says whether a domain, in A-label form, publishes MX records.
type Resolver interface {
	Lookup(ctx context.Context, domain string) (mx bool, err error)
}

// Config is what a Server works with.
type Config struct {
	Engine   *host.Engine
	Ledger   Ledger
	Resolver Resolver
	Log      *slog.Logger
	Metrics  *Metrics

	// BatchTimeout is how long a batch may take before it answers with what
	// is finished.
	BatchTimeout time.Duration
	// EdgeSecret is what a worker of this deployment shows; without one there
	// is no edge endpoint.
	EdgeSecret string
	// Flags are handed to the module with every address.
	Flags host.Flags
}

// Server is the HTTP handler. It is safe for concurrent use.
type Server struct {
	Config
	stopping context.Context
	stop     context.CancelFunc
}

// New returns a Server on c.
func New(c Config) *Server {
	s := &Server{Config: c}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// Stop makes batches under way answer with what they have, and every answer
// from now on ask its client to come no more on this connection.
func (s *Server) Stop() { s.stop() }

// ServeHTTP answers r and records how that went.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	id := requestID(r.Header.Get(headerRequestID))
	route := s.match(r)
	answer := s.handle(route, r)
	if s.stopping.Err() != nil {
		w.Header().Set("Connection", "close")
	}
	answer.send(w, id)
	s.record(record{route.name, answer.status, time.Since(start), id})
}

// handle runs the route's handler; a panic in it is a 500 and not the end of
// the connection.
func (s *Server) handle(route route, r *http.Request) (answer response) {
	defer func() {
		if fault := recover(); fault != nil {
			s.logPanic(route.name, fault)
			answer = internalError()
		}
	}()
	return route.handle(s, r)
}
