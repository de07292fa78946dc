package api

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/api/conn"
	"github.com/addrspec/addrspec/origin/api/wire"
)

// Pages serves the paths outside the API.
type Pages interface {
	http.Handler
	// Has reports whether a request is for one of the pages.
	Has(r *http.Request) bool
}

// isPage reports whether r is for Config.Pages: one of its paths, or an unknown
// one that somebody reads in a browser. Other unknown paths, and all under /v1,
// are the API's, so that a program's mistake gets a response in the API's terms.
func (s *Server) isPage(r *http.Request) bool {
	path := r.URL.EscapedPath()
	if s.Pages == nil || !strings.HasPrefix(path, "/") || path == "/v1" || strings.HasPrefix(path, "/v1/") {
		return false
	}
	if _, known := routes[path]; known {
		return false
	}
	reads := slices.Contains(reading, r.Method) && strings.Contains(r.Header.Get("Accept"), "text/html")
	return reads || s.Pages.Has(r)
}

// servePage passes r to Config.Pages, counts it and logs it under one name, because the paths of pages
// contain identifiers of accounts' things. The request's context has no connection, so that a page may
// call the Server itself.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	start, id := time.Now(), wire.RequestID(r.Header)
	connection := conn.Of(r.Context())
	if !connection.Begin() {
		panic(http.ErrAbortHandler) // the connection was closed for another
	}
	defer connection.Leave()
	r, unread := wire.Watch(r)
	page := &pageWriter{ResponseWriter: w}
	page.prepare = func() {
		if !page.kept {
			connection.Leave() // a slow reader must not keep the connection
		}
		h := w.Header()
		if h.Get(wire.HeaderRequestID) == "" { // else it is the API's, whose response the page passes on
			h.Set(wire.HeaderRequestID, id)
		}
		if page.status == http.StatusUnauthorized && h.Get("Www-Authenticate") == "" {
			h.Set("Www-Authenticate", sessionChallenge)
		}
		s.closeWhenStopping(w)
		unread.LimitRest(w)
	}
	s.handlePage(page, r.WithContext(conn.Without(r.Context())))
	if page.status == 0 {
		page.WriteHeader(http.StatusOK)
	}
	s.log(logEntry{route: "pages", status: page.status, took: time.Since(start), id: id})
}

// sessionChallenge is for programs that use pages: they need a session's cookie.
const sessionChallenge = `Cookie realm="addrspec"`

// handlePage turns a panic into 500, if nothing was sent before.
func (s *Server) handlePage(w *pageWriter, r *http.Request) {
	defer func() {
		if cause := recover(); cause != nil {
			s.logPanic("pages", cause)
			if w.status != 0 {
				panic(http.ErrAbortHandler)
			}
			http.Error(w, "The page failed because of a fault in the service. Try again; if it persists, contact the operator.", http.StatusInternalServerError)
		}
	}()
	s.Pages.ServeHTTP(w, r)
}

// A pageWriter runs prepare before the header is sent and records the status.
type pageWriter struct {
	http.ResponseWriter
	prepare func()
	kept    bool
	status  int
}

// KeepConnection keeps the connection from being closed for another while the
// response is sent. Pages call it for responses that an account has paid for.
func (w *pageWriter) KeepConnection() { w.kept = true }

func (w *pageWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.prepare()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *pageWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *pageWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
