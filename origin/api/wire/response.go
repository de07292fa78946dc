package wire

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/words"
)

// JSON is the media type of all responses but a few.
const JSON = "application/json"

// HeaderReplayed marks the stored response for an Idempotency-Key.
const HeaderReplayed = "Idempotency-Replayed"

// Response is a response to be sent.
type Response struct {
	Status      int
	Body        []byte
	ContentType string        // JSON if empty
	Usage       *ledger.Usage // of a request with a key; else nil
	Quota       *ledger.Quota // of a request with a key; else nil
	RetryAfter  time.Duration // 0 for none
	Replayed    bool          // the body was stored for the Idempotency-Key
	Fields      []Field       // further header fields
	AfterSend   func()        // called once the response is sent; may be nil

	// ClientClosed reports that the client closed its side of the connection before the response.
	ClientClosed bool
}

// Field is a header field. The name is in canonical form.
type Field struct{ Name, Value string }

// Discard releases what a response holds that is not sent.
func (r *Response) Discard() {
	if r.AfterSend != nil {
		r.AfterSend()
	}
}

// Send writes the response. Every response has the id of its request and is not cacheable, because it
// may contain an address.
func (r *Response) Send(w http.ResponseWriter, id string) {
	h := w.Header()
	h.Set("Content-Type", cmp.Or(r.ContentType, JSON))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set(HeaderRequestID, id)
	if r.Status != http.StatusNoContent { // RFC 9110 section 8.6
		h.Set("Content-Length", strconv.Itoa(len(r.Body)))
	}
	if r.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(words.WholeSeconds(r.RetryAfter)))
	}
	if r.Replayed {
		h.Set(HeaderReplayed, "true")
	}
	if r.Usage != nil {
		r.setUsage(h)
	}
	for _, field := range r.Fields {
		h.Set(field.Name, field.Value)
	}
	w.WriteHeader(r.Status)
	_, _ = w.Write(r.Body) // an error means that the client has disconnected
	_ = http.NewResponseController(w).Flush()
}

// setUsage sets X-Usage-*, and with a quota RateLimit-Policy and RateLimit
// (draft-ietf-httpapi-ratelimit-headers-10):
//
//	RateLimit-Policy: "rate";q=5;w=1, "points";q=1000;qu="points"
//	RateLimit: "rate";r=4;t=1, "points";r=988;t=864000
//
// Limits that are unlimited are left out. Points are left out if overage is allowed, because a
// client that obeys the fields would stop without need.
func (r *Response) setUsage(h http.Header) {
	u, q := r.Usage, r.Quota
	h.Set("X-Usage-Current", strconv.FormatInt(u.Current, 10))
	limit := "unlimited"
	if u.Limit != book.Unlimited {
		limit = strconv.FormatInt(u.Limit, 10)
	}
	h.Set("X-Usage-Limit", limit)
	if u.Overage {
		h.Set("X-Usage-Overage", "true")
	}
	if q == nil {
		return
	}
	// The largest Integer of a structured field (RFC 9651 section 3.3.1).
	integer := func(n int64) string { return strconv.FormatInt(min(n, 999_999_999_999_999), 10) }
	var policy, left string
	if q.Rate != book.Unlimited {
		policy = `"rate";q=` + integer(q.Rate) + `;w=1`
		left = `"rate";r=` + integer(q.Tokens) + `;t=1`
	}
	if u.Limit != book.Unlimited && !q.Overage {
		if policy != "" {
			policy, left = policy+", ", left+", "
		}
		policy += `"points";q=` + integer(u.Limit) + `;qu="points"`
		left += `"points";r=` + integer(max(u.Limit-u.Current, 0)) + `;t=` + strconv.Itoa(words.WholeSeconds(q.Refill))
	}
	if policy != "" {
		h.Set("Ratelimit-Policy", policy)
		h.Set("Ratelimit", left)
	}
}

// statusClientClosed is the status, in log and metrics, of a request whose client closed its side of
// the connection before the response. It is neither an error of the service nor a response that is
// known to be read.
const statusClientClosed = 499

// LoggedStatus returns the status for log and metrics.
func (r *Response) LoggedStatus() int {
	if r.ClientClosed {
		return statusClientClosed
	}
	return r.Status
}

// Served reports whether the response is a success for an account.
func (r *Response) Served() bool { return r.Usage != nil && r.Status < 300 && !r.ClientClosed }

// Preflight is the response to OPTIONS, with which a browser asks whether a page may send a request
// (the Fetch standard, "CORS protocol"). A preflight carries no key, so all origins are allowed. The
// response to the request itself allows its origin only if the key is bound to it. further are
// headers beside those of an operation.
func Preflight(methods []string, further string) Response {
	allowed := strings.Join(methods, ", ")
	return Response{Status: http.StatusNoContent, Fields: []Field{
		{"Allow", allowed},
		{"Access-Control-Allow-Origin", "*"},
		{"Access-Control-Allow-Methods", allowed},
		{"Access-Control-Allow-Headers", "Authorization, X-API-Key, Content-Type, Idempotency-Key, X-Request-Id" + further},
		{"Access-Control-Max-Age", "86400"}, // a day
	}}
}

// exposedHeaders are what a page may read beside the headers that the Fetch standard always allows
// ("CORS-safelisted response-header name").
const exposedHeaders = "X-Request-Id, X-Usage-Current, X-Usage-Limit, X-Usage-Overage, RateLimit, RateLimit-Policy, " +
	"Retry-After, Idempotency-Replayed"

// AllowOrigin lets pages of an origin read the response; "" changes nothing. Credentials are not
// allowed, because a page sends its key in a header, and there is no cookie.
func (r *Response) AllowOrigin(origin string) {
	if origin == "" {
		return
	}
	r.Fields = append(r.Fields, Field{"Access-Control-Allow-Origin", origin},
		Field{"Access-Control-Expose-Headers", exposedHeaders}, Field{"Vary", "Origin"})
}
