package api

import (
	"net/http"
	"strings"
)

// preflight answers OPTIONS, with which a browser asks whether a page may send a
// request (the Fetch standard, "CORS protocol"). A preflight carries no key, so
// all origins are allowed. Answers to the request itself allow none yet, since no
// key is bound to an origin.
func preflight(methods []string) response {
	allowed := strings.Join(methods, ", ")
	return response{status: http.StatusNoContent, allow: allowed, preflight: allowed}
}

// setPreflight sets the CORS headers of a preflight, which a browser may cache
// for a day.
func setPreflight(h http.Header, methods string) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Allow-Methods", methods)
	h.Set("Access-Control-Allow-Headers", "Authorization, X-API-Key, Content-Type, Idempotency-Key, X-Request-Id")
	h.Set("Access-Control-Max-Age", "86400")
}
