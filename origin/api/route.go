package api

import (
	"net/http"
	"slices"
	"strings"
)

const singlePrefix = "/v1/email/"

// A route is what a request asks for. Its name goes into logs and metrics,
// where the path, which holds an address, must not.
type route struct {
	name    string
	methods []string
	handle  func(*Server, *http.Request) response
}

// HEAD is answered as GET is, at the same cost; net/http leaves the body out.
var (
	reading = []string{http.MethodGet, http.MethodHead}
	writing = []string{http.MethodPost}
)

// routes are the paths that match completely.
var routes = map[string]route{
	"/v1/email":     operationRoute(single, reading),
	"/v1/emails":    operationRoute(batch, writing),
	"/v1/usage":     operationRoute(usage, reading),
	edgePath:        {edge.name, writing, edge.serve},
	"/healthz":      {"healthz", reading, (*Server).healthz},
	"/readyz":       {"readyz", reading, (*Server).readyz},
	"/metrics":      {"metrics", reading, (*Server).metrics},
	"/openapi.json": {"openapi", reading, (*Server).openAPI},
}

// operationRoute is that of an operation which pages in a browser may use.
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

// match finds the route of r. It matches the path as it was sent: an encoded
// address may hold "/", "//" and "..", which http.ServeMux would remove with a
// redirect.
func (s *Server) match(r *http.Request) route {
	path := r.URL.EscapedPath()
	if strings.HasPrefix(path, singlePrefix) {
		path = strings.TrimSuffix(singlePrefix, "/")
	}
	found, ok := routes[path]
	switch {
	case !ok || path == edgePath && s.EdgeSecret == "":
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
