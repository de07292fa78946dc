package api

import (
	"net/http"
	"time"

	"github.com/addrspec/addrspec/origin/api/conn"
	"github.com/addrspec/addrspec/origin/api/wire"
)

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
	var unread *wire.Unread
	if r.ContentLength != 0 {
		r, unread = wire.Watch(r)
	}
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
		s.closeWhenLeaving(w)
		if unread != nil {
			unread.LimitRest(w)
		}
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
