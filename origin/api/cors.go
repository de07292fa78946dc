package api

import (
	"net/http"
	"strings"
)

// preflight answers OPTIONS, with which a browser asks whether a page may send a
// request (the Fetch standard, "CORS protocol"). A preflight carries no key, so
// all origins are allowed. The answer to the request itself allows its origin only
// if the key is bound to it.
func preflight(methods []string) response {
	allowed := strings.Join(methods, ", ")
	return response{status: http.StatusNoContent, allow: allowed, preflight: allowed}
}

// setPreflight sets the CORS headers of a preflight, which a browser may cache
// for a day.
func setPreflight(f *fields, methods string) {
	f.set("Access-Control-Allow-Origin", "*")
	f.set("Access-Control-Allow-Methods", methods)
	f.set("Access-Control-Allow-Headers", "Authorization, X-API-Key, Content-Type, Idempotency-Key, X-Request-Id")
	f.set("Access-Control-Max-Age", "86400")
}

// pageOrigin returns the header Origin. A repeated one is joined, so it equals no
// origin.
func pageOrigin(h http.Header) string { return strings.Join(h.Values("Origin"), ",") }

// exposedHeaders are what a page may read beside the headers that the Fetch
// standard always allows ("CORS-safelisted response-header name").
const exposedHeaders = "X-Request-Id, X-Usage-Current, X-Usage-Limit, X-Usage-Overage, RateLimit, RateLimit-Policy, Retry-After, Idempotency-Replayed"

// setAllowOrigin lets pages of the origin read the answer. Credentials are not
// allowed: a page sends its key in a header, and there is no cookie.
func setAllowOrigin(f *fields, origin string) {
	f.set("Access-Control-Allow-Origin", origin)
	f.set("Access-Control-Expose-Headers", exposedHeaders)
	f.set("Vary", "Origin")
}
