package api

import (
	"net/http"
	"strings"
)

const singlePrefix = "/v1/email/"

// A route is what a request asks for. Its name goes into logs and metrics,
// where the path, which holds an address, must not.
type route struct {
	name   string
	method string
	handle func(*Server, *http.Request) response
}

// routes are the paths that match completely.
var routes = map[string]route{
	"/v1/email":     operationRoute(single, http.MethodGet),
	"/v1/emails":    operationRoute(batch, http.MethodPost),
	edgePath:        operationRoute(edge, http.MethodPost),
	"/healthz":      {"healthz", http.MethodGet, (*Server).healthz},
	"/readyz":       {"readyz", http.MethodGet, (*Server).readyz},
	"/metrics":      {"metrics", http.MethodGet, (*Server).metrics},
	"/openapi.json": {"openapi", http.MethodGet, (*Server).openAPI},
}

func operationRoute(op *operation, method string) route {
	return route{op.name, method, func(s *Server, r *http.Request) response { return s.serve(op, r) }}
}

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
		return route{"none", r.Method, (*Server).notFound}
	case found.method != r.Method:
		return route{found.name, r.Method, methodNotAllowed(found.method)}
	}
	return found
}

func (s *Server) notFound(*http.Request) response {
	return notFound.with("There is no such path; the operations are GET /v1/email/{email} and POST /v1/emails.").response(flat)
}

func methodNotAllowed(allowed string) func(*Server, *http.Request) response {
	return func(*Server, *http.Request) response {
		answer := wrongMethod.with("This path takes the method " + allowed + " only.").response(flat)
		answer.allow = allowed
		return answer
	}
}
