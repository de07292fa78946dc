// Package dashboard serves the pages that people see: the front door, the
// reference, and the account dashboard. It is a client of the rest: it checks
// addresses by calling the API's handler with a key of the account, so points,
// rates and refusals are the API's own; packages api and mx and the decisions of
// package ledger know nothing of it, and serve --dashboard=off leaves it out.
//
// # Pages and the JSON API
//
// A page is a path with a function that returns its data. A browser
// gets the data in a template; a request with "Accept: application/json" gets it
// as JSON. A form is a POST; a JSON body with the same fields does the same. So
// whatever a person can do here, a program can, behind the same session rules.
//
// # What protects it
//
// Each request passes the steps of serve.go: a bound on requests at a time, size
// limits, the cross-origin guard, session, token, rights. Pages need no inline
// script or style, and the Content-Security-Policy allows none. Templates escape
// by context (html/template). Nothing about an account is found by an ID alone:
// every query names the session's account as well.
//
// Two hints cost nothing and come from the module itself: why an address of a batch
// is not valid, and what the mistyped email of a sign-up should be.
//
// Checks wait for DNS, exports for the client's download, tests of webhooks for the
// receiver, and some sign-ins for the OpenID provider. They have slots of their own
// (serve.go), so that pages never wait for them.
//
// Pages are rendered to memory first, so an error never follows half a page, and a
// page has left its slot when it is sent: a client that does not read it keeps
// nobody from the others.
//
// A POST that makes something redirects, so that loading the page again makes nothing;
// once.go has how a new secret gets to the page that shows it. A form whose input is
// refused comes back with what was entered.
//
// # Lists
//
// The page Lists reads a file in the browser and sends only its addresses, through
// checkPath, which responds as POST /v1/emails does. Its scripts are in assets:
// lists.js is the page; list-file.js reads and writes files as package check does, so
// that a file gives the same bytes here and there; list-check.js sends batches. Package
// browser tests them. Results are in the page's memory only: `addrspec check` is for
// long lists.
package dashboard

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"sync"

	"github.com/addrspec/addrspec/origin/dashboard/docs"
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
	// OpenID is the provider at which people may sign in; nil for none.
	OpenID *openid.Provider
	// Release is the version of the program.
	Release string
	// Health checks the parts of the service, for operators.
	Health func(context.Context) []Health
	// Refused returns how many requests the API refused since the start of this server, by HTTP status.
	Refused func() map[int]int64
}

// A Dashboard is the handler of the pages. It is safe for concurrent use.
type Dashboard struct {
	Config
	mux       *http.ServeMux
	passkeys  *identity.Passkeys // nil if the public URL has no host name
	origins   *http.CrossOriginProtection
	requests  chan struct{}   // one element for each request in progress
	reading   chan struct{}   // likewise, for pages that need no database
	alone     map[string]bool // their patterns
	forms     *slots          // of forms that are arriving, by network
	documents *slots          // likewise, of forms with documents of policies
	rendering chan struct{}   // one element for each page that is being rendered
	deciding  chan struct{}   // likewise, for each document of a policy that the module reads
	unsent    unsent          // pages that are being sent
	checks    *slots
	exports   *slots
	tests     *slots // of webhooks

	policySlots *slots
	atProvider  *slots // sign-ins that wait for the OpenID provider
	api         *apiClient
	docs        func() *docs.Site // read when first shown
}

// New returns a Dashboard.
func New(c Config) (*Dashboard, error) {
	d := &Dashboard{
		Config: c, mux: http.NewServeMux(), origins: http.NewCrossOriginProtection(),
		requests: make(chan struct{}, maxRequests), reading: make(chan struct{}, maxRequests), forms: newSlots(maxForms, maxFormsEach, 0, errBusyNetwork),
		documents: newSlots(maxDocuments, maxDocumentsEach, 0, errBusyNetwork), policySlots: newSlots(maxPolicyPages, maxPolicyPagesEach, 0, errBusyAccount),
		rendering: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), deciding: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
		unsent: unsent{limit: maxUnsent},
		checks: newSlots(maxChecks, maxChecksEach, maxCheckMemory, errBusyAccount), exports: newSlots(maxExports, maxExportsEach, 0, errBusyAccount),
		tests: newSlots(maxTests, maxTestsEach, 0, errBusyAccount), atProvider: newSlots(maxSignIns, maxSignInsEach, 0, errBusyNetwork),
	}
	d.api = &apiClient{c.API, c.Ledger, newAPISecrets(c.Ledger), c.Log}
	if err := d.origins.AddTrustedOrigin(c.PublicURL.Scheme + "://" + c.PublicURL.Host); err != nil {
		return nil, err
	}
	passkeys, err := c.Identity.Passkeys(c.PublicURL)
	if err != nil && !errors.Is(err, identity.ErrNoPasskeys) {
		return nil, err
	}
	d.passkeys = passkeys
	d.docs = sync.OnceValue(func() *docs.Site { return docs.New(c.PublicURL.String()) })
	d.addRoutes()
	return d, nil
}

// secure reports whether browsers reach the service through TLS.
func (d *Dashboard) secure() bool { return d.PublicURL.Scheme == "https" }

// link returns the public URL of a path.
func (d *Dashboard) link(path string) string { return d.PublicURL.JoinPath(path).String() }

// access is who may request a page.
type access int

const (
	offline  access = iota // everybody, and the page needs no database
	public                 // everybody
	signedIn               // a complete session
	operator               // a complete session of a user with operator rights
)

// A route is a page: its data for GET, and what a POST to the same path does.
type route struct {
	access access
	title  string
	file   string // the template
	get    func(*visit) (any, error)
	post   func(*visit) (*outcome, error)
}

// routes has the pages by path. A page and its file share a name.
func (d *Dashboard) routes() map[string]route {
	list := map[string]route{
		"/{$}":         {offline, "Facts about an email address", "front", d.frontDoor, nil},
		"/docs":        {offline, "Documentation", "docs", d.documentation, nil},
		"/docs/{page}": {offline, "Documentation", "docs", d.documentation, nil},

		"/sign-in":      {offline, "Sign in", "sign-in", d.signInPage, d.signIn},
		"/sign-out":     {offline, "Sign out", "sign-out", nothing, d.signOut},
		"/link/{token}": {public, "Sign in", "link", d.linkPage, d.useLink},

		policiesPath:                    {signedIn, "Policies", "policies", d.policies, d.createPolicy},
		policiesPath + "/{name}":        {signedIn, "Policy", "policy", d.policyPage, d.changePolicy},
		policiesPath + "/{name}/test":   {signedIn, "Policy", "policy", d.policyPage, d.testPolicy},
		policiesPath + "/{name}/delete": {signedIn, "Delete a policy", "policy-delete", d.policyPage, d.deletePolicy},
		"/dashboard/try":                {signedIn, "Try it", "try", d.tryPage, d.try},
		"/dashboard/lists":              {signedIn, "Lists", "lists", d.lists, nil},

		"/confirm": {signedIn, "Confirm that it is you", "confirm", d.confirmPage, d.confirm},
	}
	for _, more := range []map[string]route{accountRoutes(), operatorRoutes(), d.settingsRoutes(), d.factorRoutes()} {
		maps.Copy(list, more)
	}
	return list
}

func nothing(*visit) (any, error) { return struct{}{}, nil }

func (d *Dashboard) addRoutes() {
	const asset = "GET /assets/{release}/{name}"
	d.mux.Handle(asset, http.HandlerFunc(serveAsset))
	d.alone = map[string]bool{asset: true}
	for path, r := range d.routes() {
		if r.access != public && r.access != offline && !remaining[path] {
			r.post = unlessSuspended(r.post)
		}
		d.mux.Handle("GET "+path, d.page(r))
		d.alone["GET "+path] = r.standsAlone(http.MethodGet)
		if r.post != nil {
			d.mux.Handle("POST "+path, d.action(r))
		}
		d.mux.Handle(path, d.methodNotAllowed(r.methods()))
	}
	d.mux.Handle("POST "+checkPath, http.HandlerFunc(d.check))
	d.mux.Handle(checkPath, d.methodNotAllowed("POST"))
	d.mux.Handle("GET /docs/openapi.json", http.RedirectHandler("/openapi.json", http.StatusMovedPermanently))
	d.mux.Handle("/", http.HandlerFunc(d.notFound))
}

// standsAlone reports whether the response to a method needs no database.
func (r *route) standsAlone(method string) bool {
	return r.access == offline && method != http.MethodPost
}

// remaining are the forms that the owner of a suspended account may send, with the public
// ones: those that protect the person, who may be the victim of what the account is
// suspended for, and checks, which the API refuses. No other one uses or changes anything.
var remaining = map[string]bool{
	"/sign-in/code": true, "/confirm": true, "/confirm/passkey": true, "/confirm/openid": true,
	"/dashboard/keys/{id}/revoke":                      true,
	"/dashboard/settings/sessions":                     true,
	"/dashboard/settings/password":                     true,
	"/dashboard/settings/totp":                         true,
	"/dashboard/settings/totp/remove":                  true,
	"/dashboard/settings/recovery-codes":               true,
	"/dashboard/settings/passkeys/{credential}/remove": true,
	"/dashboard/settings/identities/remove":            true,
	provedPath:                                         true,
	"/dashboard/try":                                   true,
}

// unlessSuspended returns post, refused to users of suspended accounts; nil for nil.
func unlessSuspended(post func(*visit) (*outcome, error)) func(*visit) (*outcome, error) {
	if post == nil {
		return nil
	}
	return func(v *visit) (*outcome, error) {
		if v.user.Suspended {
			return nil, errSuspended
		}
		return post(v)
	}
}

// methods returns the methods that the route accepts.
func (r *route) methods() string {
	if r.post == nil {
		return "GET, HEAD"
	}
	return "GET, HEAD, POST"
}

// tokenField and tokenHeader carry the token that proves that a POST comes from
// one of our pages.
const (
	tokenField  = "form_token"
	tokenHeader = "X-Form-Token"
)

// guard refuses a POST that did not come from our own pages: by Fetch metadata or
// Origin (the Fetch standard; net/http.CrossOriginProtection), and by a token
// that only they know. It reads the form.
func (d *Dashboard) guard(v *visit) error {
	if err := d.origins.Check(v.r); err != nil {
		return errCrossOrigin
	}
	if err := v.readForm(); err != nil {
		return err
	}
	given := v.r.Header.Get(tokenHeader)
	if given == "" {
		given = v.form.Get(tokenField)
	}
	return v.checkToken(given)
}

// guardHeader is guard for a POST whose body is not a form.
func (d *Dashboard) guardHeader(v *visit) error {
	if err := d.origins.Check(v.r); err != nil {
		return errCrossOrigin
	}
	return v.checkToken(v.r.Header.Get(tokenHeader))
}

func (v *visit) checkToken(given string) error {
	if subtle.ConstantTimeCompare([]byte(given), []byte(v.formToken())) != 1 {
		return errFormToken
	}
	return nil
}

// formToken returns the token of forms, which is bound to the session or, before
// sign-in, to a cookie of its own.
func (v *visit) formToken() string {
	sum := sha256.Sum256([]byte("form token of " + v.token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// policy is the Content-Security-Policy of every page: no inline script, no inline
// style, nothing from elsewhere. 'wasm-unsafe-eval' lets a page run the module; it
// allows no JavaScript from strings (CSP Level 3 section 4.4).
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; " +
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
