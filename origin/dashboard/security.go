package dashboard

import "net/http"

// policy is the Content-Security-Policy of every page: no inline script, no inline
// style, nothing from elsewhere. 'wasm-unsafe-eval' lets a page run the module; it
// allows no JavaScript from strings (CSP Level 3 section 4.4).
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; " +
	"img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

func (d *Dashboard) setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	// A one-time link is in a path, so no other site gets it. "no-referrer" would
	// make browsers send "Origin: null" with forms (Fetch section 3.2), which the
	// guard refuses where they send no Fetch metadata: at http other than localhost.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("X-Frame-Options", "DENY") // for browsers without frame-ancestors
	if d.secure() {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}
