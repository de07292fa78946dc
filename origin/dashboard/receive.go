package dashboard

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// Bounds of forms that arrive. A form is read before its request takes a slot of
// pages, so that clients that send slowly keep nobody from a page: 16 MiB of forms,
// for a few seconds each.
const (
	maxForms     = 256             // arriving at a time
	maxFormsEach = 16              // of a network
	formTime     = 3 * time.Second // for one to arrive
)

// Bounds of forms with documents of policies. They are larger, so there are fewer: 32 MiB
// that arrive, and a few pages that have a document as text, as a form and as HTML.
const (
	maxDocument        = 1 << 20 // bytes of such a form
	maxDocuments       = 32      // arriving at a time
	maxDocumentsEach   = 4       // of a network
	maxPolicyPages     = 8       // in progress at a time
	maxPolicyPagesEach = 2       // of an account
)

// formLimit returns the limit on the bytes of the form of a request.
func formLimit(r *http.Request) int64 {
	if r.URL.Path == policiesPath || strings.HasPrefix(r.URL.Path, policiesPath+"/") {
		return maxDocument
	}
	return maxForm
}

// receive reads the form of a request, and returns the request with the form in
// memory. The body of a check is left to the API, which has its own bounds.
func (d *Dashboard) receive(w http.ResponseWriter, r *http.Request) (*http.Request, *problem) {
	if r.ContentLength == 0 || r.Body == nil || r.URL.Path == checkPath {
		return r, nil
	}
	arriving := d.forms
	if formLimit(r) > maxForm {
		arriving = d.documents
	}
	release, p := arriving.take(d.callerNetwork(r), 0)
	if p != nil {
		return r, p
	}
	defer release()
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(formTime))           // a test's writer has none
	body, err := io.ReadAll(io.LimitReader(r.Body, formLimit(r)+1)) // a byte too many, so that readForm notices
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return r, &problem{status: http.StatusRequestTimeout, code: "SLOW_FORM",
			sentence: "The form did not arrive within 3 seconds. Send it again."}
	}
	if err != nil {
		return r, &problem{status: http.StatusBadRequest, code: "INVALID_REQUEST", sentence: "The form is incomplete."}
	}
	_ = control.SetReadDeadline(time.Time{})
	received := r.WithContext(r.Context())
	received.Body = io.NopCloser(bytes.NewReader(body))
	return received, nil
}
