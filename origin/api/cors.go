package api

import (
	"net/http"
	"strings"
)

// preflight answers OPTIONS, by which a browser asks whether a page may send a
// request (the Fetch standard, "CORS protocol"). The question carries no key,
// so every origin may ask; no answer to the request itself allows an origin
// yet, since no key is bound to one.
func preflight(methods []string) response {
	allowed := strings.Join(methods, ", ")
	return response{status: http.StatusNoContent, allow: allowed, preflight: allowed}
}

// setPreflight sets what the browser wants to know; the answer holds for a day.
func setPreflight(h http.Header, methods string) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Allow-Methods", methods)
	h.Set("Access-Control-Allow-Headers", "Authorization, X-API-Key, Content-Type, Idempotency-Key, X-Request-Id")
	h.Set("Access-Control-Max-Age", "86400")
}
