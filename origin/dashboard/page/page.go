// Package page serves the pages of the dashboard, and knows none of them: who visits (visit.go), what may
// be in progress (limits.go), the steps of a request (serve.go), how it ends (render.go, problem.go), and
// secrets that are shown once (once.go).
package page

import (
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/identity/openid"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/webhook"
	"github.com/addrspec/addrspec/wasm/host"
)

// Config configures a Dashboard.
type Config struct {
	Ledger   *ledger.Ledger
	Identity *identity.Identity
	API      http.Handler // checks addresses
	Engine   *host.Engine // explains them, at no cost
	Log      *slog.Logger

	// Webhooks sends messages of accounts that have used most of their points.
	Webhooks *webhook.Sender

	// PublicURL is where browsers reach the service: it decides links, the
	// cookies' Secure attribute and the name that passkeys are bound to.
	PublicURL *url.URL
	// TrustedProxies are the networks whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// SignUp lets anybody create an account.
	SignUp bool
	// SourceURL is where the source code is; the front door has no link to it if SourceURL is empty.
	SourceURL string
	// OpenID is the provider at which people may sign in; nil for none.
	OpenID *openid.Provider
	// Release is the version of the program.
	Release string
	// Health checks the parts of the service, for operators.
	Health func(context.Context) []Health
	// Refused returns how many requests the API refused since the start of this server, by HTTP status.
	Refused func() map[int]int64
}

// A Health is the state of one part of the service.
type Health struct {
	Part   string `json:"part"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // what is wrong and what to do, or a version
}

// A Server serves visits. It knows no page.
type Server struct {
	Config
	Mux       *http.ServeMux
	origins   *http.CrossOriginProtection
	Limits    limits
	Passkeys  *identity.Passkeys                   // nil if the public URL has no host name
	templates func() map[string]*template.Template // by page
	messages  map[string]string                    // what a page says after an action
}

// secure reports whether browsers reach the service through TLS.
func (s *Server) secure() bool { return s.PublicURL.Scheme == "https" }

// Link returns the public URL of a path.
func (s *Server) Link(path string) string { return s.PublicURL.JoinPath(path).String() }

type (
	Access int                            // who may request a page
	getter func(*Visit) (any, error)      // returns the data of a page
	poster func(*Visit) (*Outcome, error) // does what a form asks
)

const (
	Offline  Access = iota // everybody, and the page needs no database
	Public                 // everybody
	SignedIn               // people with a complete session
	Operator               // operators, with a complete session
)

// A Route is a page: its data for GET, and what a POST to the same path does.
type Route struct {
	Access Access
	title  string
	file   string // the template
	get    getter
	Post   poster
}

// Page returns the route of a page for those with the access.
func (a Access) Page(title, file string, get getter, post poster) Route {
	return Route{a, title, file, get, post}
}

func Nothing(*Visit) (any, error) { return struct{}{}, nil }

// A Visit is one request with who makes it.
type Visit struct {
	*Server
	Writer  http.ResponseWriter
	Request *http.Request     // its context ends after the time of a page
	Whole   context.Context   // of the request, without that limit
	JSON    bool              // the caller wants JSON
	User    *identity.User    // nil without a session
	Session *identity.Session // likewise
	Token   string            // of the session, or of the form cookie
	body    []byte            // of a POST with a form
	Form    url.Values        // in body

	release func() // frees what the visit holds of the limits
	kept    bool   // it is held until the response is sent
}

// Context returns the request's context, which ends after the time of a page.
func (v *Visit) Context() context.Context { return v.Request.Context() }

// An Outcome is what a request leads to: another page with a message, or, if Data is
// not nil, the route's own page, once.
type Outcome struct {
	location string
	done     string // a key of Server.messages
	Data     any
	Refused  *Problem // with the input, shown with Data
	Stream   func()   // sends the response instead
	Text     string   // the whole response, of TextType, instead
	TextType string
}

// Redirect leads to another page, with a message there.
func Redirect(location, done string) *Outcome {
	switch {
	case done == "":
	case strings.Contains(location, "?"):
		location += "&done=" + done
	default:
		location += "?done=" + done
	}
	return &Outcome{location: location, done: done}
}

// Done returns to the page of the form with a message.
func (v *Visit) Done(message string) *Outcome { return Redirect(v.Request.URL.Path, message) }

// Show renders data in the route's page, as the response to the POST. It is for what
// may be posted again; see ShowOnce for new secrets.
func Show(data any) *Outcome { return &Outcome{Data: data} }
