package api

import (
	"cmp"
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
	edgeMX       string // the brief answer to a worker
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
	f := fieldsOf(w.Header())
	f.set("Content-Type", cmp.Or(a.contentType, contentJSON))
	f.set("Cache-Control", "no-store")
	f.set("X-Content-Type-Options", "nosniff")
	f.set(headerRequestID, id)
	if a.status != http.StatusNoContent { // RFC 9110 section 8.6
		f.setInt("Content-Length", int64(len(a.body)))
	}
	a.setExtras(f)
	w.WriteHeader(a.status)
	// An error means that the client has disconnected.
	_, _ = w.Write(a.body)
	_ = http.NewResponseController(w).Flush()
}

func (a *response) setExtras(f *fields) {
	if a.allow != "" {
		f.set("Allow", a.allow)
	}
	if a.preflight != "" {
		setPreflight(f, a.preflight)
	}
	if a.allowOrigin != "" {
		setAllowOrigin(f, a.allowOrigin)
	}
	if a.retryAfter > 0 {
		f.setInt("Retry-After", int64(wholeSeconds(a.retryAfter)))
	}
	if a.edgeMX != "" {
		f.set(headerEdgeMX, a.edgeMX)
	}
	if a.replayed {
		f.set(headerReplayed, "true")
	}
	if a.usage != nil {
		setUsage(f, *a.usage)
	}
	if a.usage != nil && a.quota != nil {
		setRateLimit(f, a.usage, a.quota)
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

// served reports whether the response is a success for an account.
func (a *response) served() bool {
	return a.usage != nil && a.status < 300 && !a.clientClosed
}

// setUsage sets X-Usage-Current, X-Usage-Limit and X-Usage-Overage.
func setUsage(f *fields, u ledger.Usage) {
	f.setInt("X-Usage-Current", u.Current)
	limit := "unlimited"
	if u.Limit != ledger.Unlimited {
		limit = strconv.FormatInt(u.Limit, 10)
	}
	f.set("X-Usage-Limit", limit)
	if u.Overage {
		f.set("X-Usage-Overage", "true")
	}
}

// wholeSeconds returns d in seconds, rounded up, at least 1.
func wholeSeconds(d time.Duration) int {
	return max(1, int((d+time.Second-1)/time.Second))
}
