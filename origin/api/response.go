package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

const (
	headerRequestID = "X-Request-Id"
	contentJSON     = "application/json"
)

// A response is an answer to be sent.
type response struct {
	status       int
	body         []byte
	contentType  string        // JSON if empty
	usage        *ledger.Usage // of an authenticated request
	quota        *ledger.Quota // likewise
	retryAfter   time.Duration
	replayed     bool // the stored answer for an Idempotency-Key
	allow        string
	preflight    string // the methods allowed to pages in a browser
	allowOrigin  string // the origin whose pages may read the answer
	clientClosed bool   // the client closed its side of the connection before the answer
	afterSend    func() // called once the answer is sent; may be nil
}

// discard releases what an answer holds that is not sent.
func (a *response) discard() {
	if a.afterSend != nil {
		a.afterSend()
	}
}

// send writes the answer. Every answer has the id of its request and is not
// cacheable, since it may contain an address.
func (a *response) send(w http.ResponseWriter, id string) {
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	if a.contentType == "" {
		h.Set("Content-Type", contentJSON)
	}
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set(headerRequestID, id)
	if a.status != http.StatusNoContent { // RFC 9110 section 8.6
		h.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	a.setExtras(h)
	w.WriteHeader(a.status)
	// An error means that the client has disconnected.
	_, _ = w.Write(a.body)
	_ = http.NewResponseController(w).Flush()
}

func (a *response) setExtras(h http.Header) {
	if a.allow != "" {
		h.Set("Allow", a.allow)
	}
	if a.preflight != "" {
		setPreflight(h, a.preflight)
	}
	if a.allowOrigin != "" {
		setAllowOrigin(h, a.allowOrigin)
	}
	if a.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(wholeSeconds(a.retryAfter)))
	}
	if a.replayed {
		h.Set(headerReplayed, "true")
	}
	if a.usage != nil {
		setUsage(h, *a.usage)
	}
	if a.usage != nil && a.quota != nil {
		setRateLimit(h, a.usage, a.quota)
	}
}

// statusClientClosed is the status, in log and metrics, of a request whose client
// closed its side of the connection before the answer: neither an error of the
// service nor an answer known to be read.
const statusClientClosed = 499

// loggedStatus returns the status for log and metrics.
func (a *response) loggedStatus() int {
	if a.clientClosed {
		return statusClientClosed
	}
	return a.status
}

// served reports whether the response is a 200 to an account.
func (a *response) served() bool {
	return a.usage != nil && a.status == http.StatusOK && !a.clientClosed
}

// setUsage sets X-Usage-Current, X-Usage-Limit and X-Usage-Overage.
func setUsage(h http.Header, u ledger.Usage) {
	h.Set("X-Usage-Current", strconv.FormatInt(u.Current, 10))
	limit := "unlimited"
	if u.Limit != ledger.Unlimited {
		limit = strconv.FormatInt(u.Limit, 10)
	}
	h.Set("X-Usage-Limit", limit)
	if u.Overage {
		h.Set("X-Usage-Overage", "true")
	}
}

// wholeSeconds returns d in seconds, rounded up, at least 1.
func wholeSeconds(d time.Duration) int {
	return max(1, int((d+time.Second-1)/time.Second))
}
