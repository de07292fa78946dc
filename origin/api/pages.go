package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Pages answers the paths outside the API.
type Pages interface {
	http.Handler
	// Has reports whether a request is for one of the pages.
	Has(r *http.Request) bool
}

// isPage reports whether r is for Config.Pages: one of its paths, or an unknown
// one that somebody reads in a browser. Other unknown paths, and all under /v1,
// are the API's, so that a program's mistake is answered in the API's terms.
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

// servePage passes r to Config.Pages, counts it and logs it under one name: the
// paths of pages contain identifiers of accounts' things. The request's context
// has no connection, so that a page may call the Server itself.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	c := connOf(r.Context())
	if !c.beginHandler() {
		panic(http.ErrAbortHandler) // the connection is closed
	}
	defer c.endHandler()
	start := time.Now()
	id := requestID(strings.Join(r.Header[headerRequestID], ","))
	watched, body := watchBody(r.WithContext(context.WithValue(r.Context(), connKey{}, (*conn)(nil))))
	page := &pageWriter{ResponseWriter: w, prepare: func() {
		if w.Header().Get(headerRequestID) == "" { // else it is the API's, whose answer the page passes on
			w.Header().Set(headerRequestID, id)
		}
		if s.stopping.Err() != nil {
			w.Header().Set("Connection", "close")
		}
		if body.limitRest(w) {
			c.lingerOnClose()
		} else {
			c.expectRequest()
		}
	}}
	s.handlePage(page, watched)
	if page.status == 0 {
		page.WriteHeader(http.StatusOK)
	}
	s.log(logEntry{route: "pages", status: page.status, took: time.Since(start), id: id})
}

// handlePage answers a panic with 500, if nothing was sent before.
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
	status  int
}

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
