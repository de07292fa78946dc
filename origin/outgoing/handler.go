package outgoing

import (
	"bytes"
	"io"
	"net/http"
)

// A Handler is a transport that hands requests to a handler in this process.
type Handler struct{ http.Handler }

// RoundTrip returns the handler's response.
func (h Handler) RoundTrip(r *http.Request) (*http.Response, error) {
	response, body := Record(h, r)
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// Record returns a handler's response and its body, which is in memory: the handler limits its size.
func Record(h http.Handler, r *http.Request) (*http.Response, []byte) {
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	h.ServeHTTP(w, r)
	return &http.Response{StatusCode: w.status, Header: w.header, Request: r}, w.body.Bytes()
}

type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the header.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader keeps the status.
func (w *recorder) WriteHeader(status int) { w.status = status }

// Write keeps p.
func (w *recorder) Write(p []byte) (int, error) { return w.body.Write(p) }
