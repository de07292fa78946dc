package page

import (
	"context"
	"errors"
	"html/template"
	"io"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

func New(c Config, templates func() map[string]*template.Template, messages map[string]string) (*Server, error) {
	s := &Server{Config: c, Mux: http.NewServeMux(), origins: http.NewCrossOriginProtection(), Limits: newLimits(),
		templates: templates, messages: messages}
	s.Mux.HandleFunc("/", s.notFound)
	passkeys, err := c.Identity.Passkeys(c.PublicURL)
	if err != nil && !errors.Is(err, identity.ErrNoPasskeys) {
		return nil, err
	}
	s.Passkeys = passkeys
	return s, s.origins.AddTrustedOrigin(c.PublicURL.Scheme + "://" + c.PublicURL.Host)
}

// Add adds a route whose form has at most so many bytes.
func (s *Server) Add(path string, r Route, form int64) {
	methods := "GET, HEAD"
	if r.Post != nil {
		methods = "GET, HEAD, POST"
		s.Mux.HandleFunc("POST "+path, s.Handler(r, form, action(r)))
	}
	s.Mux.HandleFunc("GET "+path, s.Handler(r, form, page(r)))
	s.Mux.HandleFunc(path, s.MethodNotAllowed(methods))
}

// ServeHTTP serves a request for a page.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.setSecurityHeaders(w.Header())
	if path.Clean(r.URL.Path) != r.URL.Path { // http.ServeMux would redirect
		s.notFound(w, r)
		return
	}
	s.Mux.ServeHTTP(w, r)
}

func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	s.Handler(Route{}, 0, func(*Visit) error { return ErrNotFound })(w, r)
}

func (s *Server) MethodNotAllowed(allow string) http.HandlerFunc {
	return s.Handler(Route{}, 0, func(v *Visit) error {
		v.Writer.Header().Set("Allow", allow)
		return &Problem{Status: http.StatusMethodNotAllowed, Code: "METHOD_NOT_ALLOWED",
			Sentence: "This path accepts " + allow + " only."}
	})
}

// Has reports whether a request is for a page or an asset.
func (s *Server) Has(r *http.Request) bool {
	if path.Clean(r.URL.Path) != r.URL.Path {
		return false
	}
	_, pattern := s.Mux.Handler(r)
	return pattern != "/"
}

// policy is the Content-Security-Policy of every page: no inline script, no inline
// style, nothing from elsewhere. 'wasm-unsafe-eval' lets a page run the module; it
// allows no JavaScript from strings (CSP Level 3 section 4.4).
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; " +
	"img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

func (s *Server) setSecurityHeaders(h http.Header) {
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

// Handler returns a handler that calls serve with the visit of each request that may visit the route. If
// form is not 0, it reads a form of so many bytes before.
func (s *Server) Handler(route Route, form int64, serve func(*Visit) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		accept := r.Header.Get("Accept")
		v := &Visit{Server: s, Writer: w, Request: r, Whole: r.Context(), release: func() {},
			JSON: strings.Contains(accept, "application/json") || isJSON(r) && !strings.Contains(accept, "text/html")}
		ctx, cancel := context.WithTimeout(r.Context(), maxTime)
		defer cancel()
		defer func() { v.release() }()
		actor := book.Owner
		if route.Access == Operator {
			actor = book.Operator
		}
		v.Request = r.WithContext(book.WithActor(ctx, actor))
		err := v.receive(form)
		if err == nil {
			err = v.enter(route)
		}
		if err == nil && form > MaxForm && v.User != nil {
			err = v.Hold(s.Limits.Documents, v.Account(), 1, ErrBusyAccount) // before the form takes more memory
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
func (v *Visit) receive(limit int64) error {
	length := v.Request.ContentLength
	if v.Request.Method != http.MethodPost || limit == 0 || length == 0 {
		return nil
	}
	if length < 0 || length > limit {
		length = limit
	}
	// The steps are held until the request has a place.
	err := v.Hold(v.Limits.Arriving, v.CallerNetwork(v.Request), int(length+step-1)/step, ErrBusyNetwork)
	if err != nil {
		return err
	}
	control := http.NewResponseController(v.Writer)
	_ = control.SetReadDeadline(time.Now().Add(formTime)) // a test's writer has none
	v.body, err = io.ReadAll(io.LimitReader(v.Request.Body, limit+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlowForm
	case err != nil:
		return &Problem{Status: http.StatusBadRequest, Code: "INVALID_REQUEST", Sentence: "The form is incomplete."}
	case int64(len(v.body)) > limit:
		return &Problem{Status: http.StatusRequestEntityTooLarge, Code: "BODY_TOO_LARGE",
			Sentence: "The form is larger than " + strconv.FormatInt(limit>>10, 10) + " KiB."}
	}
	_ = control.SetReadDeadline(time.Time{})
	return nil
}

func page(route Route) func(*Visit) error {
	return func(v *Visit) error {
		data, err := route.get(v)
		if err != nil {
			return err
		}
		outcome, ok := data.(*Outcome)
		if !ok {
			outcome = Show(data)
		}
		outcome.send(v, route)
		return nil
	}
}

// action serves POST for a route. A problem with the input shows the page again, with the sentence that
// says what to do.
func action(route Route) func(*Visit) error {
	return func(v *Visit) error {
		if err := v.Guard(); err != nil {
			return err
		}
		done, err := route.Post(v)
		if err == nil {
			done.send(v, route)
			return nil
		}
		p := ProblemOf(err)
		if !p.Input || v.JSON {
			return err
		}
		data, err := route.get(v)
		if err == nil {
			v.render(p.Status, route, data, p)
		}
		return err
	}
}
