package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/securitytxt"
	"github.com/addrspec/addrspec/origin/signuphook"
	"github.com/addrspec/addrspec/wasm/host"
)

// Resolver looks up the MX records of domains in A-label form.
type Resolver interface {
	// Lookup reports whether domain publishes MX records. The resolver is shared
	// fairly between accounts.
	Lookup(ctx context.Context, account int64, domain string) (mx bool, err error)
	// Peek answers without a query; known is false if Lookup has to be called.
	Peek(domain string) (mx, known bool, err error)
}

// Config configures a Server.
type Config struct {
	Engine   *host.Engine
	Ledger   Ledger
	Resolver Resolver
	Log      *slog.Logger
	Metrics  *Metrics

	// BatchTimeout is how long the work of a batch may take. Then the batch is
	// answered with what is finished.
	BatchTimeout time.Duration
	// EdgeSecrets are the secrets of the deployment's workers, each of which is
	// accepted. Without one, there is no edge endpoint.
	EdgeSecrets []string
	// Flags are the module's flags for every address.
	Flags host.Flags
	// OperatorApart means that Operator has its own listener. The Server then
	// answers 404 for /metrics and /readyz.
	OperatorApart bool
	// Memory limits the memory of requests under way. The default is a budget of
	// DefaultBodyMemory.
	Memory *MemoryBudget
	// SecurityTxt is served at /.well-known/security.txt if it has a contact.
	SecurityTxt *securitytxt.File
	// Hooks are the sign-up hooks; nil for none.
	Hooks *signuphook.Registry
	// Pages answers the paths outside the API; nil for none.
	Pages Pages
}

// Server is the HTTP handler. It is safe for concurrent use.
type Server struct {
	Config
	unservedLimit lineLimit
	hooksUnderWay hooksUnderWay
	stopping      context.Context
	stop          context.CancelFunc
}

// New returns a Server with configuration c.
func New(c Config) *Server {
	s := &Server{Config: c}
	if s.Memory == nil {
		s.Memory = NewMemoryBudget(DefaultBodyMemory)
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// Stop ends the work of batches under way, which are answered with what is
// finished. All further answers have Connection: close.
func (s *Server) Stop() { s.stop() }

// ServeHTTP answers the requests of callers and workers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.isPage(r) {
		s.servePage(w, r)
		return
	}
	s.answer(w, r, s.publicRoute(s.match(r)))
}

// answer handles r with its route, sends the response, counts it and logs it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, route route) {
	conn := connOf(r.Context())
	if !conn.beginHandler() {
		panic(http.ErrAbortHandler) // the connection is closed
	}
	defer conn.endHandler()
	start := time.Now()
	id := requestID(strings.Join(r.Header[headerRequestID], ","))
	watched, body := watchBody(r)
	answer := s.handle(route, watched)
	if answer.afterSend != nil {
		defer answer.afterSend()
	} else {
		conn.markIdle() // without an account, a slow reader must not keep the connection
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

// handle runs the route's handler. A panic is answered with 500 and does not close
// the connection.
func (s *Server) handle(route route, r *http.Request) (answer response) {
	defer func() {
		if cause := recover(); cause != nil {
			s.logPanic(route.name, cause)
			answer = internalProblem().response(flat)
		}
	}()
	return route.handle(s, r)
}
