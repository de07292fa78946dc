package dashboard

import (
	"context"
	"errors"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/identity/openid"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
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

// A Health is the state of one part of the service.
type Health struct {
	Part   string `json:"part"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // what is wrong and what to do, or a version
}

// A server serves visits. It knows no page.
type server struct {
	Config
	mux       *http.ServeMux
	origins   *http.CrossOriginProtection
	limits    limits
	passkeys  *identity.Passkeys                   // nil if the public URL has no host name
	templates func() map[string]*template.Template // by page
	messages  map[string]string                    // what a page says after an action
}

func newServer(c Config, templates func() map[string]*template.Template, messages map[string]string) (*server, error) {
	s := &server{Config: c, mux: http.NewServeMux(), origins: http.NewCrossOriginProtection(), limits: newLimits(),
		templates: templates, messages: messages}
	s.mux.HandleFunc("/", s.notFound)
	passkeys, err := c.Identity.Passkeys(c.PublicURL)
	if err != nil && !errors.Is(err, identity.ErrNoPasskeys) {
		return nil, err
	}
	s.passkeys = passkeys
	return s, s.origins.AddTrustedOrigin(c.PublicURL.Scheme + "://" + c.PublicURL.Host)
}

// secure reports whether browsers reach the service through TLS.
func (s *server) secure() bool { return s.PublicURL.Scheme == "https" }

// link returns the public URL of a path.
func (s *server) link(path string) string { return s.PublicURL.JoinPath(path).String() }

// access is who may request a page.
type access int

const (
	byAll      access = iota // and the page needs no database
	byPublic                 // everybody
	bySignedIn               // a complete session
	byOperator               // a complete session of a user with operator rights
)

// A route is a page: its data for GET, and what a POST to the same path does.
type route struct {
	access access
	title  string
	file   string // the template
	get    getter
	post   poster
}

// A getter returns the data of a page.
type getter func(*visit) (any, error)

// A poster does what a form asks.
type poster func(*visit) (*outcome, error)

// offline returns a page for everybody that needs no database.
func offline(title, file string, get getter, post poster) route {
	return route{byAll, title, file, get, post}
}

// public returns a page for everybody.
func public(title, file string, get getter, post poster) route {
	return route{byPublic, title, file, get, post}
}

// signedIn returns a page for people with a complete session.
func signedIn(title, file string, get getter, post poster) route {
	return route{bySignedIn, title, file, get, post}
}

// operator returns a page for operators.
func operator(title, file string, get getter, post poster) route {
	return route{byOperator, title, file, get, post}
}

// add adds a route whose form has at most so many bytes.
func (s *server) add(path string, r route, form int64) {
	methods := "GET, HEAD"
	if r.post != nil {
		methods = "GET, HEAD, POST"
		s.mux.HandleFunc("POST "+path, s.handler(r, form, action(r)))
	}
	s.mux.HandleFunc("GET "+path, s.handler(r, form, page(r)))
	s.mux.HandleFunc(path, s.methodNotAllowed(methods))
}

// Bounds of a request.
const (
	maxForm  = 64 << 10               // bytes of a form
	formTime = 3 * time.Second        // for a form to arrive
	maxWait  = 500 * time.Millisecond // for a place
	maxTime  = 20 * time.Second       // of a page
	sendTime = 10 * time.Second       // for a client to read a page
	busyWait = time.Second            // until a client should try again
)

// ServeHTTP serves a request for a page.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.setSecurityHeaders(w.Header())
	if path.Clean(r.URL.Path) != r.URL.Path { // http.ServeMux would redirect
		s.notFound(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

func (s *server) notFound(w http.ResponseWriter, r *http.Request) {
	s.handler(route{}, 0, func(*visit) error { return errNotFound })(w, r)
}

func (s *server) methodNotAllowed(allow string) http.HandlerFunc {
	return s.handler(route{}, 0, func(v *visit) error {
		v.w.Header().Set("Allow", allow)
		return &problem{status: http.StatusMethodNotAllowed, code: "METHOD_NOT_ALLOWED", sentence: "This path accepts " + allow + " only."}
	})
}

// Has reports whether a request is for a page or an asset.
func (s *server) Has(r *http.Request) bool {
	if path.Clean(r.URL.Path) != r.URL.Path {
		return false
	}
	_, pattern := s.mux.Handler(r)
	return pattern != "/"
}

// policy is the Content-Security-Policy of every page: no inline script, no inline
// style, nothing from elsewhere. 'wasm-unsafe-eval' lets a page run the module; it
// allows no JavaScript from strings (CSP Level 3 section 4.4).
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; " +
	"img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

func (s *server) setSecurityHeaders(h http.Header) {
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
	if s.secure() {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// handler returns a handler that calls serve with the visit of each request that may visit the route. If
// form is not 0, it reads a form of so many bytes before.
func (s *server) handler(route route, form int64, serve func(*visit) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		accept := r.Header.Get("Accept")
		v := &visit{server: s, w: w, r: r, whole: r.Context(), release: func() {},
			json: strings.Contains(accept, "application/json") || isJSON(r) && !strings.Contains(accept, "text/html")}
		ctx, cancel := context.WithTimeout(r.Context(), maxTime)
		defer cancel()
		defer func() { v.release() }()
		actor := book.Owner
		if route.access == byOperator {
			actor = book.Operator
		}
		v.r = r.WithContext(book.WithActor(ctx, actor))
		err := v.receive(form)
		if err == nil {
			err = v.enter(route)
		}
		if err == nil && form > maxForm && v.user != nil {
			err = v.hold(s.limits.documents, v.account(), 1, errBusyAccount) // before the form takes more memory
		}
		if err == nil {
			err = serve(v)
		}
		if err != nil {
			v.refuse(err)
		}
	}
}

// receive reads the body of a form with a limit of bytes; 0 for no form.
func (v *visit) receive(limit int64) error {
	length := v.r.ContentLength
	if v.r.Method != http.MethodPost || limit == 0 || length == 0 {
		return nil
	}
	if length < 0 || length > limit {
		length = limit
	}
	// The steps are held until the request has a place.
	err := v.hold(v.limits.arriving, v.callerNetwork(v.r), int(length+step-1)/step, errBusyNetwork)
	if err != nil {
		return err
	}
	control := http.NewResponseController(v.w)
	_ = control.SetReadDeadline(time.Now().Add(formTime)) // a test's writer has none
	v.body, err = io.ReadAll(io.LimitReader(v.r.Body, limit+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlowForm
	case err != nil:
		return &problem{status: http.StatusBadRequest, code: "INVALID_REQUEST", sentence: "The form is incomplete."}
	case int64(len(v.body)) > limit:
		return &problem{status: http.StatusRequestEntityTooLarge, code: "BODY_TOO_LARGE",
			sentence: "The form is larger than " + strconv.FormatInt(limit>>10, 10) + " KiB."}
	}
	_ = control.SetReadDeadline(time.Time{})
	return nil
}

// page serves GET for a route.
func page(route route) func(*visit) error {
	return func(v *visit) error {
		data, err := route.get(v)
		if err != nil {
			return err
		}
		if elsewhere, ok := data.(*outcome); ok {
			elsewhere.send(v, route)
			return nil
		}
		v.render(http.StatusOK, route, data, nil)
		return nil
	}
}

// action serves POST for a route. A problem with the input shows the page again, with the sentence that
// says what to do.
func action(route route) func(*visit) error {
	return func(v *visit) error {
		if err := v.guard(); err != nil {
			return err
		}
		done, err := route.post(v)
		if err == nil {
			done.send(v, route)
			return nil
		}
		p := problemOf(err)
		if !p.input || v.json {
			return err
		}
		data, err := route.get(v)
		if err == nil {
			v.render(p.status, route, data, p)
		}
		return err
	}
}

// send responds with a body that is in memory. A page has left its place when it is sent, so a client that
// does not read it keeps nobody from a page. A page of a quarter of a step is not counted, because the
// number of connections bounds those.
func (v *visit) send(status int, contentType string, body []byte) {
	if !v.kept {
		v.release()
		_ = http.NewResponseController(v.w).SetWriteDeadline(time.Now().Add(sendTime)) // a test's writer has none
		if n := min(len(body)/step+1, maxUnsentEach/2); len(body) > step/4 {
			free, err := take(v.whole, v.limits.unsent, v.callerNetwork(v.r), n, errBusyNetwork)
			if err != nil {
				p := problemOf(err)
				v.w.Header().Set("Retry-After", "1")
				http.Error(v.w, p.sentence, p.status)
				return
			}
			defer free()
		}
	}
	h := v.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	v.w.WriteHeader(status)
	_, _ = v.w.Write(body) // an error means that the client has disconnected
}
