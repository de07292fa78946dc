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

// response is an answer, decided but not yet sent.
type response struct {
	status      int
	body        []byte
	contentType string        // JSON unless given
	usage       *ledger.Usage // of an authenticated request
	retryAfter  time.Duration
	allow       string
}

// send writes the answer. Every answer is JSON, names its request and is kept
// in no cache, for it may hold an address.
func (a *response) send(w http.ResponseWriter, id string) {
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	if a.contentType == "" {
		h.Set("Content-Type", contentJSON)
	}
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set(headerRequestID, id)
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	a.sendExtras(h)
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the client may be gone; there is nobody to tell
}

func (a *response) sendExtras(h http.Header) {
	if a.allow != "" {
		h.Set("Allow", a.allow)
	}
	if a.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(wholeSeconds(a.retryAfter)))
	}
	if a.usage != nil {
		setUsage(h, *a.usage)
	}
}

// setUsage tells the account's points: used this month, allowed, in overage.
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

// wholeSeconds rounds up, to at least one: who waits that long may come back.
func wholeSeconds(d time.Duration) int {
	return max(1, int((d+time.Second-1)/time.Second))
}

// ok is a 200 with body.
func ok(body []byte, usage ledger.Usage) response {
	return response{status: http.StatusOK, body: body, usage: &usage}
}
