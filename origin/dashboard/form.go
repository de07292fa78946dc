package dashboard

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// Bounds of forms that arrive. A form is read before its request takes a slot of
// pages, so that clients that send slowly keep nobody from a page: 16 MiB of forms,
// for a few seconds each.
const (
	maxForms = 256             // arriving at a time
	formTime = 3 * time.Second // for one to arrive
)

var errSlowForm = &problem{status: http.StatusRequestTimeout, code: "SLOW_FORM", sentence: "The form did not arrive within 3 seconds. Send it again."}

// receive reads the form of a request, and returns the request with the form in
// memory. The body of a check is left to the API, which has its own bounds.
func (d *Dashboard) receive(w http.ResponseWriter, r *http.Request) (*http.Request, *problem) {
	if r.ContentLength == 0 || r.Body == nil || r.URL.Path == checkPath {
		return r, nil
	}
	select {
	case d.forms <- struct{}{}:
		defer func() { <-d.forms }()
	default:
		return r, errBusy
	}
	body, err := readInTime(w, r)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return r, errSlowForm
	}
	if err != nil {
		return r, &problem{status: http.StatusBadRequest, code: "INVALID_REQUEST", sentence: "The form is incomplete."}
	}
	received := r.WithContext(r.Context())
	received.Body = io.NopCloser(bytes.NewReader(body))
	return received, nil
}

// readInTime reads a byte more than a form may have, so that readForm notices.
func readInTime(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(formTime)) // a test's writer has none
	body, err := io.ReadAll(io.LimitReader(r.Body, maxForm+1))
	if err == nil {
		_ = control.SetReadDeadline(time.Time{})
	}
	return body, err
}
