package outgoing

import (
	"bytes"
	"io"
	"net/http"
)

// Record returns a handler's response and its body, which is in memory: the handler limits its size.
func Record(h http.Handler, r *http.Request) (response *http.Response, body []byte) {
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	h.ServeHTTP(w, r)
	reader := io.NopCloser(bytes.NewReader(w.Bytes()))
	return &http.Response{StatusCode: w.status, Header: w.header, Body: reader, Request: r}, w.Bytes()
}

type recorder struct {
	header       http.Header
	status       int
	bytes.Buffer // the body
}

// Header returns the header.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader keeps the status.
func (w *recorder) WriteHeader(status int) { w.status = status }
