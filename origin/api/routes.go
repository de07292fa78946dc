package api

import (
	_ "embed"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/api/conn"
	"github.com/addrspec/addrspec/origin/api/wire"
)

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
	var unread *wire.Unread
	if r.ContentLength != 0 {
		r, unread = wire.Watch(r)
	}
	resp := s.handle(route, r)
	if resp.AfterSend != nil {
		defer resp.AfterSend()
	} else {
		connection.Leave() // without an account, a slow reader must not keep the connection
	}
	s.closeWhenLeaving(w)
	if unread != nil {
		unread.LimitRest(w)
	}
	resp.Send(w, id)
	s.log(logEntry{route.name, resp.LoggedStatus(), time.Since(start), id, resp.Served()})
}

// closeWhenLeaving makes the client leave its connection while the service drains.
func (s *Server) closeWhenLeaving(w http.ResponseWriter) {
	if s.leaving.Load() {
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
	if name, is := strings.CutPrefix(path, hookPrefix); is && s.Hooks.Set().Find(name) != nil {
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
