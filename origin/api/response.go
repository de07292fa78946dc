package api

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

const (
	headerRequestID = "X-Request-Id"
	contentJSON     = "application/json"
)

// A response is a response to be sent.
type response struct {
	status       int
	body         []byte
	contentType  string        // JSON if empty
	usage        *ledger.Usage // of an authenticated request
	quota        *ledger.Quota // likewise
	retryAfter   time.Duration
	challenge    string // of a 401
	replayed     bool   // the stored response for an Idempotency-Key
	allow        string
	preflight    string // the methods allowed to pages in a browser
	preflightHas string // the headers allowed to them
	allowOrigin  string // the origin whose pages may read the response
	edgeMX       string // the brief response to a worker
	edgePolicy   string // of a response to a worker: the digest of the policy's document
	clientClosed bool   // the client closed its side of the connection before the response
	afterSend    func() // called once the response is sent; may be nil
}

// discard releases what a response holds that is not sent.
func (a *response) discard() {
	if a.afterSend != nil {
		a.afterSend()
	}
}

// send writes the response. Every response has the id of its request and is not
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
		setPreflight(f, a.preflight, a.preflightHas)
	}
	if a.allowOrigin != "" {
		setAllowOrigin(f, a.allowOrigin)
	}
	if a.challenge != "" {
		f.set("Www-Authenticate", a.challenge)
	}
	if a.retryAfter > 0 {
		f.setInt("Retry-After", int64(wholeSeconds(a.retryAfter)))
	}
	if a.edgeMX != "" {
		f.set(headerEdgeMX, a.edgeMX)
	}
	if a.edgePolicy != "" {
		f.set(headerEdgePolicy, a.edgePolicy)
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
// closed its side of the connection before the response: neither an error of the
// service nor a response known to be read.
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

// usualFields is more fields than a usual response has.
const usualFields = 12

// fields sets header fields, whose names must be in canonical form. The values share
// one allocation; http.Header.Set makes one for each, which was a sixth of all that a
// request makes.
type fields struct {
	header http.Header
	values []string
}

func fieldsOf(h http.Header) *fields { return &fields{h, make([]string, 0, usualFields)} }

func (f *fields) set(name, value string) {
	f.values = append(f.values, value)
	f.header[name] = f.values[len(f.values)-1:][:1:1]
}

func (f *fields) setInt(name string, value int64) { f.set(name, strconv.FormatInt(value, 10)) }

// setRateLimit sets RateLimit-Policy and RateLimit
// (draft-ietf-httpapi-ratelimit-headers-10):
//
//	RateLimit-Policy: "rate";q=5;w=1, "points";q=1000;qu="points"
//	RateLimit: "rate";r=4;t=1, "points";r=988;t=864000
//
// Limits that are unlimited are left out, and so are points if overage is
// allowed: a client that obeys the fields would stop without need.
func setRateLimit(f *fields, u *ledger.Usage, q *ledger.Quota) {
	policy, left := make([]byte, 0, 64), make([]byte, 0, 64)
	if q.Rate != ledger.Unlimited {
		policy = append(appendRateLimit(policy, `"rate";q=`, q.Rate), `;w=1`...)
		left = append(appendRateLimit(left, `"rate";r=`, q.Tokens), `;t=1`...)
	}
	if u.Limit != ledger.Unlimited && !q.Overage {
		policy = append(appendRateLimit(policy, `"points";q=`, u.Limit), `;qu="points"`...)
		left = appendRateLimit(left, `"points";r=`, max(u.Limit-u.Current, 0))
		left = strconv.AppendInt(append(left, `;t=`...), int64(wholeSeconds(q.Refill)), 10)
	}
	if len(policy) > 0 {
		f.set("Ratelimit-Policy", string(policy))
		f.set("Ratelimit", string(left))
	}
}

// appendRateLimit appends an item with its first parameter to a List of Strings
// (RFC 9651 section 3.1).
func appendRateLimit(dst []byte, item string, n int64) []byte {
	if len(dst) > 0 {
		dst = append(dst, ", "...)
	}
	return strconv.AppendInt(append(dst, item...), min(n, maxInteger), 10)
}

// maxInteger is the largest Integer of a structured field (RFC 9651 section
// 3.3.1).
const maxInteger = 999_999_999_999_999

// preflight serves OPTIONS, with which a browser asks whether a page may send a
// request (the Fetch standard, "CORS protocol"). A preflight carries no key, so
// all origins are allowed. The response to the request itself allows its origin only
// if the key is bound to it. further are headers beside those of an operation.
func preflight(methods []string, further string) response {
	allowed := strings.Join(methods, ", ")
	return response{status: http.StatusNoContent, allow: allowed, preflight: allowed, preflightHas: pageHeaders + further}
}

const pageHeaders = "Authorization, X-API-Key, Content-Type, Idempotency-Key, X-Request-Id"

// setPreflight sets the CORS headers of a preflight, which a browser may cache
// for a day.
func setPreflight(f *fields, methods, headers string) {
	f.set("Access-Control-Allow-Origin", "*")
	f.set("Access-Control-Allow-Methods", methods)
	f.set("Access-Control-Allow-Headers", headers)
	f.set("Access-Control-Max-Age", "86400")
}

// pageOrigin returns the header Origin. A repeated one is joined, so it equals no
// origin.
func pageOrigin(h http.Header) string { return strings.Join(h.Values("Origin"), ",") }

// exposedHeaders are what a page may read beside the headers that the Fetch
// standard always allows ("CORS-safelisted response-header name").
const exposedHeaders = "X-Request-Id, X-Usage-Current, X-Usage-Limit, X-Usage-Overage, RateLimit, RateLimit-Policy, Retry-After, Idempotency-Replayed"

// setAllowOrigin lets pages of the origin read the response. Credentials are not
// allowed: a page sends its key in a header, and there is no cookie.
func setAllowOrigin(f *fields, origin string) {
	f.set("Access-Control-Allow-Origin", origin)
	f.set("Access-Control-Expose-Headers", exposedHeaders)
	f.set("Vary", "Origin")
}

// A responseBuffer has room for the response of a usual large batch. It is used again once
// the response is sent. Responses of less than half its size have a buffer of their own, since
// the whole of this one is reserved until a client has read it.
type responseBuffer [32 << 10]byte

var responseBuffers = sync.Pool{New: func() any { return new(responseBuffer) }}

// responseRoom returns an empty buffer with room for size bytes.
func (x *exchange) responseRoom(size int) []byte {
	if size < len(x.buffer)/2 || size > len(x.buffer) {
		return make([]byte, 0, size)
	}
	x.buffer = responseBuffers.Get().(*responseBuffer)
	return x.buffer[:0]
}

// releaseResponse lets another batch use the buffer.
func (x *exchange) releaseResponse() {
	if x.buffer != nil {
		responseBuffers.Put(x.buffer)
		x.buffer = nil
	}
}
