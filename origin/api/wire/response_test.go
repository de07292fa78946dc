package wire

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

// sent returns the header of a response.
func sent(r Response) http.Header {
	w := httptest.NewRecorder()
	r.Send(w, "id")
	return w.Header()
}

// Every code has the contract's shape for its status, in each operation.
func TestShapeOfEveryStatus(t *testing.T) {
	begins := map[Shape]string{Flat: `{"status":`, Enveloped: `{"success":false,"error":{"code":"`, Rate: `{"status":429,"title":"`}
	byStatus := map[int][2]Shape{ // single, batch
		400: {Flat, Enveloped}, 401: {Flat, Flat}, 402: {Flat, Enveloped}, 403: {Flat, Flat}, 404: {Flat, Flat}, 405: {Flat, Flat},
		409: {Flat, Enveloped}, 413: {Flat, Enveloped}, 415: {Flat, Enveloped}, 417: {Flat, Flat}, 422: {Flat, Enveloped},
		429: {Rate, Rate}, 500: {Flat, Flat}, 503: {Flat, Flat},
	}
	for _, c := range []Code{NotFound, WrongMethod, BadHTTP, InvalidEdgeSecret, InvalidSignature, InvalidKey, TooMany, WrongMediaType,
		BodyTooLarge, MissingEmail, InvalidFormat, InvalidRequest, EmptyBatch, BatchSizeExceeded, InsufficientUsage, IdemConflict,
		IdemMismatch, Internal, Cancelled} {
		for n, shape := range []Shape{Flat, Enveloped} {
			r := c.With("x").Response(shape)
			require.True(t, strings.HasPrefix(string(r.Body), begins[byStatus[c.Status][n]]), "%s: %s", c.Name, r.Body)
			require.Equal(t, c.Status == 401, sent(r).Get("WWW-Authenticate") != "", c.Name)
		}
	}
}

// Members that were opted in for come last, and nothing else changes.
func TestOptedMembers(t *testing.T) {
	p := InvalidFormat.With("x")
	require.Equal(t, `{"status":400,"error":"x","code":"INVALID_EMAIL_FORMAT"}`, string(p.Response(Flat).Body))
	p.Opted = Opted{Details: []byte(`{"refusal":null}`), Verdict: []byte(`{}`)}
	require.Equal(t, `{"status":400,"error":"x","code":"INVALID_EMAIL_FORMAT","details":{"refusal":null},"verdict":{}}`,
		string(p.Response(Flat).Body))
}

// What the server refuses before a handler is a response in shape A, with a request id, that closes the
// connection.
func TestRefusal(t *testing.T) {
	for status, code := range map[int]string{400: "INVALID_REQUEST", 417: "BAD_REQUEST", 431: "BAD_REQUEST", 501: "BAD_REQUEST",
		503: "REQUEST_CANCELLED", 505: "BAD_REQUEST"} {
		r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(Refusal(status))), nil)
		require.NoError(t, err)
		require.Equal(t, status, r.StatusCode)
		require.True(t, r.Close)
		require.Equal(t, JSON, r.Header.Get("Content-Type"))
		require.NotEmpty(t, r.Header.Get(HeaderRequestID))
		require.Equal(t, status == 503, r.Header.Get("Retry-After") == "1")
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.Regexp(t, `^\{"status":\d+,"error":"[A-Z][^"]+","code":"`+code+`"\}$`, string(body))
	}
}

func TestRateLimitHeaders(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		usage        ledger.Usage
		quota        ledger.Quota
		policy, left string
	}{
		"both limits": {ledger.Usage{Current: 12, Limit: 1000}, ledger.Quota{Rate: 5, Tokens: 4, Refill: 10*day - time.Millisecond},
			`"rate";q=5;w=1, "points";q=1000;qu="points"`, `"rate";r=4;t=1, "points";r=988;t=864000`},
		"no rate": {ledger.Usage{Current: 10, Limit: 10}, ledger.Quota{Rate: book.Unlimited, Refill: day},
			`"points";q=10;qu="points"`, `"points";r=0;t=86400`},
		"no points":            {ledger.Usage{Limit: book.Unlimited}, ledger.Quota{Rate: 1}, `"rate";q=1;w=1`, `"rate";r=0;t=1`},
		"points may be passed": {ledger.Usage{Limit: 10}, ledger.Quota{Rate: 1, Overage: true}, `"rate";q=1;w=1`, `"rate";r=0;t=1`},
		"a limit lowered": {ledger.Usage{Current: 20, Limit: 10}, ledger.Quota{Rate: book.Unlimited},
			`"points";q=10;qu="points"`, `"points";r=0;t=1`},
		"no limits": {ledger.Usage{Limit: book.Unlimited}, ledger.Quota{Rate: book.Unlimited}, "", ""},
		"beyond an Integer": {ledger.Usage{Limit: math.MaxInt64}, ledger.Quota{Rate: book.Unlimited, Refill: day},
			`"points";q=999999999999999;qu="points"`, `"points";r=999999999999999;t=86400`},
	} {
		h := sent(Response{Status: 200, Usage: &c.usage, Quota: &c.quota})
		require.Equal(t, [2]string{c.policy, c.left}, [2]string{h.Get("RateLimit-Policy"), h.Get("RateLimit")}, name)
	}
}

// Every header that a response may have is exposed to pages, unless the Fetch standard always is.
func TestHeadersAreExposed(t *testing.T) {
	r := Response{Status: 200, Replayed: true, RetryAfter: time.Second, Usage: &ledger.Usage{Current: 11, Limit: 10, Overage: true},
		Quota: &ledger.Quota{Rate: 5, Tokens: 4}}
	r.AllowOrigin("https://shop.example")
	always := "Cache-Control Content-Language Content-Length Content-Type Expires Last-Modified Pragma " + // "CORS-safelisted response-header name"
		"Access-Control-Allow-Origin Access-Control-Expose-Headers Vary X-Content-Type-Options " // for browsers, not for pages
	exposed := strings.FieldsFunc(strings.ToLower(always+exposedHeaders), func(r rune) bool { return r == ' ' || r == ',' })
	h := sent(r)
	for name := range h {
		require.Contains(t, exposed, strings.ToLower(name))
	}
	for _, name := range strings.Split(exposedHeaders, ", ") {
		require.NotEmpty(t, h.Get(name), name)
	}
}
