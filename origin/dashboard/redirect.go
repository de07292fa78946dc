package dashboard

import (
	"net/http"
	"net/url"
	"strings"
)

// escape returns the page to return to after a detour, as a query value. A POST
// returns to the page of its form.
func escape(r *http.Request) string {
	to := r.URL.Path
	if r.Method == http.MethodGet && r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	return url.QueryEscape(to)
}

// returnTo returns the page given in the field or query "to" if it is one of the
// dashboard's own, and the Overview otherwise: a link must not lead people
// elsewhere after they sign in.
func (v *visit) returnTo() string {
	to := v.form.Get("to")
	if to == "" {
		to = v.r.URL.Query().Get("to")
	}
	parsed, err := url.Parse(to)
	own := err == nil && parsed.Scheme == "" && parsed.Host == "" && parsed.User == nil && !strings.ContainsAny(to, "\\\r\n\t") &&
		(parsed.Path == "/dashboard" || strings.HasPrefix(parsed.Path, "/dashboard/"))
	if !own {
		return "/dashboard"
	}
	return to
}

// acceptsHTML reports whether a request comes from somebody who reads pages.
func acceptsHTML(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }
