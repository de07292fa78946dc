package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/origin/securitytxt"
)

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
	edgePath:        {edge.name, writing, edge.serve},
	"/healthz":      {"healthz", reading, (*Server).healthz},
	"/readyz":       {"readyz", reading, (*Server).readyz},
	"/metrics":      {"metrics", reading, (*Server).metrics},
	"/openapi.json": {"openapi", reading, (*Server).openAPI},

	securitytxt.Path: {"securitytxt", reading, (*Server).securityTxt},
}

// operationRoute returns the route of an operation that pages in a browser may
// use.
func operationRoute(op *operation, methods []string) route {
	methods = append(slices.Clip(methods), http.MethodOptions)
	return route{op.name, methods, func(s *Server, r *http.Request) response {
		if r.Method == http.MethodOptions {
			return preflight(methods)
		}
		return s.serve(op, r)
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
	if s.isHook(path) {
		found, ok = hookRoute, true
	}
	switch {
	case !ok || path == edgePath && len(s.EdgeSecrets) == 0:
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
		answer := wrongMethod.with(textMethods(allowed)).response(flat)
		answer.allow = allowed
		return answer
	}
}
