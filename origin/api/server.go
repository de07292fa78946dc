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
	_ "embed"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/addrspec/addrspec/origin/api/conn"
	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/limit"
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

	memory   *limit.Limiter[owner]
	signUps  *limit.Limiter[string] // one call at a time decides about a sign-up
	unserved *rate.Limiter          // of log lines
	leftOut  atomic.Int64           // log lines since the last one
	stopping context.Context
	stop     context.CancelFunc
}

// New returns a Server with configuration c.
func New(c Config) *Server {
	if c.Memory == 0 {
		c.Memory = DefaultMemory
	}
	s := &Server{Config: c, memory: newMemory(c.Memory), signUps: newSignUps(),
		unserved: rate.NewLimiter(unservedLines, unservedLines)}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// Stop ends the work of batches in progress, which get what is finished. All further responses have
// Connection: close.
func (s *Server) Stop() { s.stop() }

// MemoryInUse returns how many bytes requests in progress use; see Config.Memory.
func (s *Server) MemoryInUse() int { return s.memory.Used() }

// ServeHTTP serves the requests of callers and workers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.isPage(r) {
		s.servePage(w, r)
		return
	}
	route := s.match(r)
	if s.OperatorApart && route.operator && route.name != "healthz" {
		route = unknownRoute
	}
	s.respond(w, r, route)
}

// respond handles r with its route, sends the response, counts it and logs it.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, route route) {
	start, id := time.Now(), wire.RequestID(r.Header)
	connection := conn.Of(r.Context())
	if !connection.Begin() {
		panic(http.ErrAbortHandler) // the connection was closed for another
	}
	defer connection.Leave()
	if r.URL.Path == mcpPath {
		r.Header[wire.HeaderRequestID] = []string{id} // of the operation of a tool too
	}
	r, unread := wire.Watch(r)
	resp := s.handle(route, r)
	if resp.AfterSend != nil {
		defer resp.AfterSend()
	} else {
		connection.Leave() // without an account, a slow reader must not keep the connection
	}
	s.closeWhenStopping(w)
	unread.LimitRest(w)
	resp.Send(w, id)
	s.log(logEntry{route.name, resp.LoggedStatus(), time.Since(start), id, resp.Served()})
}

// closeWhenStopping makes the client leave its connection before the service stops.
func (s *Server) closeWhenStopping(w http.ResponseWriter) {
	if s.stopping.Err() != nil {
		w.Header().Set("Connection", "close")
	}
}

// handle runs the route's handler. A panic gets 500 and does not close the connection.
func (s *Server) handle(route route, r *http.Request) (resp wire.Response) {
	defer func() {
		if cause := recover(); cause != nil {
			s.logPanic(route.name, cause)
			resp = wire.Defect().Response(wire.Flat)
		}
	}()
	return route.handle(s, r)
}

const singlePrefix = "/v1/email/"

// A route is the handler for a path. Its name is used in logs and metrics in place of the path, which
// may contain an address.
type route struct {
	name     string
	methods  []string
	handle   func(*Server, *http.Request) wire.Response
	operator bool // for the operator's tools
	page     bool // pages in a browser may use it: OPTIONS is a preflight
}

// HEAD is handled like GET, at the same cost; net/http omits the body.
var (
	reading = []string{http.MethodGet, http.MethodHead}
	writing = []string{http.MethodPost}
)

// routes has the routes by path.
var routes = map[string]route{
	"/v1/email": {"single", reading, func(s *Server, r *http.Request) wire.Response {
		return s.serve(r, "single", wire.Flat, single)
	}, false, true},
	"/v1/emails": {"batch", writing, func(s *Server, r *http.Request) wire.Response {
		return s.serve(r, "batch", wire.Enveloped, batch)
	}, false, true},
	"/v1/usage": {"usage", reading, func(s *Server, r *http.Request) wire.Response {
		return s.serve(r, "usage", wire.Flat, usage)
	}, false, true},
	mcpPath:                     {mcpRoute, writing, (*Server).message, false, true},
	edgePath:                    {"edge", writing, (*Server).edge, false, false},
	"/healthz":                  {"healthz", reading, (*Server).healthz, true, false},
	"/readyz":                   {"readyz", reading, (*Server).readyz, true, false},
	"/metrics":                  {"metrics", reading, (*Server).metrics, true, false},
	"/openapi.json":             {"openapi", reading, (*Server).openAPI, false, false},
	"/.well-known/security.txt": {"securitytxt", reading, (*Server).securityTxt, false, false},
}

var (
	hookRoute    = route{name: "hook", methods: writing, handle: (*Server).hook}
	unknownRoute = route{name: "none", handle: (*Server).notFound}
)

func (s *Server) notFound(*http.Request) wire.Response {
	return wire.NotFound.With(wire.TextNoPath).Response(wire.Flat)
}

// match returns the route of r. It matches the path as sent, because an encoded address may contain "/",
// "//" and "..", which http.ServeMux would redirect.
func (s *Server) match(r *http.Request) route {
	path := r.URL.EscapedPath()
	if strings.HasPrefix(path, singlePrefix) {
		path = strings.TrimSuffix(singlePrefix, "/")
	}
	found, ok := routes[path]
	if name, is := strings.CutPrefix(path, hookPrefix); is && s.Hooks.Find(name) != nil {
		found, ok = hookRoute, true
	}
	if !ok || path == edgePath && len(s.EdgeSecrets) == 0 || path == mcpPath && s.MCP == nil {
		return unknownRoute
	}
	allowed := found.methods
	if found.page {
		allowed = append(slices.Clip(allowed), http.MethodOptions)
	}
	switch {
	case !slices.Contains(allowed, r.Method):
		found.handle = func(*Server, *http.Request) wire.Response {
			allow := strings.Join(allowed, ", ")
			resp := wire.WrongMethod.With(wire.TextMethods(allow)).Response(wire.Flat)
			resp.Fields = []wire.Field{{Name: "Allow", Value: allow}}
			return resp
		}
	case r.Method == http.MethodOptions:
		found.handle = func(*Server, *http.Request) wire.Response {
			further := ""
			if path == mcpPath {
				further = mcpHeaders
			}
			return wire.Preflight(allowed, further)
		}
	}
	return found
}

//go:embed openapi.json
var description []byte

// Description returns the OpenAPI 3.1 description of the API. The caller must
// not change it.
func Description() []byte { return description }

// openAPI serves GET /openapi.json.
func (s *Server) openAPI(*http.Request) wire.Response {
	return wire.Response{Status: http.StatusOK, Body: description}
}
