// Package api is the HTTP server of the origin:
//
//	GET  /v1/email/{email}   checks one address
//	POST /v1/emails          checks up to 64 addresses
//	GET  /v1/usage           returns what the account has used and has left
//	POST /mcp                serves assistants (package mcp), by the operations above
//	POST /v1/edge/admit      charges and looks up MX for an edge worker (edge.go)
//	GET  /healthz, /readyz, /metrics, /openapi.json
//
// All but /mcp (mcp.go) and the last line are operations, each a value in single.go,
// batch.go or edge.go. All operations run through one pipeline
// (pipeline.go), which has the order of the contract's checks. A request is
// charged once, at its end.
//
// Handlers return a response as a value, which is sent in one place. Facts come
// from the module (wasm/host), never from core, so origin and edge cannot differ.
// No address and no key is logged, measured or repeated in an error.
package api

import (
	"context"
	_ "embed"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/signuphook"
	"github.com/addrspec/addrspec/wasm/host"
)

// Resolver looks up the MX records of domains in A-label form.
type Resolver interface {
	// Lookup looks up the exchanges of domain. The resolver is shared fairly between
	// accounts.
	Lookup(ctx context.Context, account int64, domain string) (mx.Result, error)
	// LookupAddress is Lookup, and looks up the address record if mail would go to it.
	LookupAddress(ctx context.Context, account int64, domain string) (mx.Result, error)
	// Peek returns without a query; known is false if Lookup has to be called.
	Peek(domain string) (found mx.Result, known bool, err error)
	// PeekAddress is Peek for LookupAddress.
	PeekAddress(domain string) (found mx.Result, known bool, err error)
}

// Config configures a Server.
type Config struct {
	Engine   *host.Engine
	Ledger   Ledger
	Resolver Resolver
	Log      *slog.Logger
	Metrics  *Metrics

	// BatchTimeout is how long the work of a batch may take. Then the
	// response has what is finished.
	BatchTimeout time.Duration
	// EdgeSecrets are the secrets of the deployment's workers, each of which is
	// accepted. Without one, there is no edge endpoint.
	EdgeSecrets []string
	// Flags are the module's flags for every address.
	Flags host.Flags
	// OperatorApart means that Operator has its own listener. The Server then
	// returns 404 for /metrics and /readyz.
	OperatorApart bool
	// Memory limits the memory of requests in progress. The default is a budget of
	// DefaultBodyMemory.
	Memory *MemoryBudget
	// SecurityTxt is served at /.well-known/security.txt if it has a contact.
	SecurityTxt *SecurityTxt
	// Hooks are the sign-up hooks; nil for none.
	Hooks *signuphook.Registry
	// Distrusted reports whether lookups fail because the resolvers lie, so that no
	// requests should come; nil if that cannot be.
	Distrusted func() bool
	// Pages serves the paths outside the API; nil for none.
	Pages Pages
	// MCP serves assistants at /mcp; nil for none.
	MCP MCP
}

// Server is the HTTP handler. It is safe for concurrent use.
type Server struct {
	Config
	unservedLimit   lineLimit
	hooksInProgress hooksInProgress
	stopping        context.Context
	stop            context.CancelFunc
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

// Stop ends the work of batches in progress, which get what is
// finished. All further responses have Connection: close.
func (s *Server) Stop() { s.stop() }

// ServeHTTP serves the requests of callers and workers.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.isPage(r) {
		s.servePage(w, r)
		return
	}
	s.respond(w, r, s.publicRoute(s.match(r)))
}

// respond handles r with its route, sends the response, counts it and logs it.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, route route) {
	a := arrive(r)
	defer a.conn.endHandler()
	resp := s.handle(route, a.request)
	if resp.afterSend != nil {
		defer resp.afterSend()
	} else {
		a.conn.markIdle() // without an account, a slow reader must not keep the connection
	}
	s.beforeHeader(w, &a)
	resp.send(w, a.id)
	s.log(logEntry{route.name, resp.loggedStatus(), time.Since(a.start), a.id, resp.served()})
}

// An arrival is a request in a handler.
type arrival struct {
	conn    *conn
	start   time.Time
	id      string
	request *http.Request // whose body is watched
	body    *unreadBody
}

// arrive begins a handler for r, whose end the caller must report to the connection.
func arrive(r *http.Request) arrival {
	a := arrival{conn: connOf(r.Context()), start: time.Now()}
	if !a.conn.beginHandler() {
		panic(http.ErrAbortHandler) // the connection is closed
	}
	a.id = requestID(strings.Join(r.Header[headerRequestID], ","))
	if r.URL.Path == mcpPath {
		r.Header[headerRequestID] = []string{a.id} // of the operation of a tool too
	}
	a.request, a.body = watchBody(r)
	return a
}

// beforeHeader decides about the connection before the response's header is sent.
func (s *Server) beforeHeader(w http.ResponseWriter, a *arrival) {
	if s.stopping.Err() != nil {
		w.Header().Set("Connection", "close")
	}
	if a.body.limitRest(w) {
		a.conn.lingerOnClose()
	} else {
		a.conn.expectRequest()
	}
}

// handle runs the route's handler. A panic gets 500 and does not close
// the connection.
func (s *Server) handle(route route, r *http.Request) (resp response) {
	defer func() {
		if cause := recover(); cause != nil {
			s.logPanic(route.name, cause)
			resp = internalProblem().response(flat)
		}
	}()
	return route.handle(s, r)
}

const singlePrefix = "/v1/email/"

// A route is the handler for a path. Its name is used in logs and metrics in place
// of the path, which may contain an address.
type route struct {
	name    string
	methods []string
	handle  func(*Server, *http.Request) response
}

// HEAD is handled like GET, at the same cost; net/http omits the body.
var (
	reading = []string{http.MethodGet, http.MethodHead}
	writing = []string{http.MethodPost}
)

// routes has the routes by path.
var routes = map[string]route{
	"/v1/email":     operationRoute(single, reading),
	"/v1/emails":    operationRoute(batch, writing),
	"/v1/usage":     operationRoute(usage, reading),
	mcpPath:         pageRoute(mcpRoute, writing, mcpHeaders, (*Server).message),
	edgePath:        {edge.name, writing, edge.serve},
	"/healthz":      {"healthz", reading, (*Server).healthz},
	"/readyz":       {"readyz", reading, (*Server).readyz},
	"/metrics":      {"metrics", reading, (*Server).metrics},
	"/openapi.json": {"openapi", reading, (*Server).openAPI},

	SecurityTxtPath: {"securitytxt", reading, (*Server).securityTxt},
}

// operationRoute returns the route of an operation that pages in a browser may
// use.
func operationRoute(op *operation, methods []string) route {
	return pageRoute(op.name, methods, "", op.serve)
}

// pageRoute returns a route that pages in a browser may use, with these headers too.
func pageRoute(name string, methods []string, headers string, serve func(*Server, *http.Request) response) route {
	methods = append(slices.Clip(methods), http.MethodOptions)
	return route{name, methods, func(s *Server, r *http.Request) response {
		if r.Method == http.MethodOptions {
			return preflight(methods, headers)
		}
		return serve(s, r)
	}}
}

func (op *operation) serve(s *Server, r *http.Request) response { return s.serve(op, r) }

// match returns the route of r. It matches the path as sent: an encoded address
// may contain "/", "//" and "..", which http.ServeMux would redirect.
func (s *Server) match(r *http.Request) route {
	path := r.URL.EscapedPath()
	if strings.HasPrefix(path, singlePrefix) {
		path = strings.TrimSuffix(singlePrefix, "/")
	}
	found, ok := routes[path]
	if strings.HasPrefix(path, hookPrefix) && s.isHook(path) {
		found, ok = hookRoute, true
	}
	switch {
	case !ok || path == edgePath && len(s.EdgeSecrets) == 0 || path == mcpPath && s.MCP == nil:
		return route{"none", nil, (*Server).notFound}
	case !slices.Contains(found.methods, r.Method):
		return route{found.name, nil, methodNotAllowed(strings.Join(found.methods, ", "))}
	}
	return found
}

func (s *Server) notFound(*http.Request) response {
	return notFound.with(textNoPath).response(flat)
}

func methodNotAllowed(allowed string) func(*Server, *http.Request) response {
	return func(*Server, *http.Request) response {
		resp := wrongMethod.with(textMethods(allowed)).response(flat)
		resp.allow = allowed
		return resp
	}
}

// Pages serves the paths outside the API.
type Pages interface {
	http.Handler
	// Has reports whether a request is for one of the pages.
	Has(r *http.Request) bool
}

// isPage reports whether r is for Config.Pages: one of its paths, or an unknown
// one that somebody reads in a browser. Other unknown paths, and all under /v1,
// are the API's, so that a program's mistake gets a response in the API's terms.
func (s *Server) isPage(r *http.Request) bool {
	path := r.URL.EscapedPath()
	if s.Pages == nil || !strings.HasPrefix(path, "/") || path == "/v1" || strings.HasPrefix(path, "/v1/") {
		return false
	}
	if _, known := routes[path]; known {
		return false
	}
	reads := slices.Contains(reading, r.Method) && strings.Contains(r.Header.Get("Accept"), "text/html")
	return reads || s.Pages.Has(r)
}

// servePage passes r to Config.Pages, counts it and logs it under one name: the
// paths of pages contain identifiers of accounts' things. The request's context
// has no connection, so that a page may call the Server itself.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	a := arrive(r)
	defer a.conn.endHandler()
	page := &pageWriter{ResponseWriter: w}
	page.prepare = func() {
		if !page.kept {
			a.conn.markIdle() // a slow reader must not keep the connection
		}
		if w.Header().Get(headerRequestID) == "" { // else it is the API's, whose response the page passes on
			w.Header().Set(headerRequestID, a.id)
		}
		if page.status == http.StatusUnauthorized && w.Header().Get("Www-Authenticate") == "" {
			w.Header().Set("Www-Authenticate", sessionChallenge)
		}
		s.beforeHeader(w, &a)
	}
	s.handlePage(page, a.request.WithContext(context.WithValue(r.Context(), connKey{}, (*conn)(nil))))
	if page.status == 0 {
		page.WriteHeader(http.StatusOK)
	}
	s.log(logEntry{route: "pages", status: page.status, took: time.Since(a.start), id: a.id})
}

// sessionChallenge is for programs that use pages: they need a session's cookie.
const sessionChallenge = `Cookie realm="addrspec"`

// handlePage turns a panic into 500, if nothing was sent before.
func (s *Server) handlePage(w *pageWriter, r *http.Request) {
	defer func() {
		if cause := recover(); cause != nil {
			s.logPanic("pages", cause)
			if w.status != 0 {
				panic(http.ErrAbortHandler)
			}
			http.Error(w, "The page failed because of a fault in the service. Try again; if it persists, contact the operator.", http.StatusInternalServerError)
		}
	}()
	s.Pages.ServeHTTP(w, r)
}

// A pageWriter runs prepare before the header is sent and records the status.
type pageWriter struct {
	http.ResponseWriter
	prepare func()
	kept    bool
	status  int
}

// KeepConnection keeps the connection from being closed for another while the
// response is sent. Pages call it for responses that an account has paid for.
func (w *pageWriter) KeepConnection() { w.kept = true }

func (w *pageWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.prepare()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *pageWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *pageWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

//go:embed openapi.json
var description []byte

// Description returns the OpenAPI 3.1 description of the API. The caller must
// not change it.
func Description() []byte { return description }

// openAPI serves GET /openapi.json.
func (s *Server) openAPI(*http.Request) response {
	return response{status: http.StatusOK, body: description}
}
