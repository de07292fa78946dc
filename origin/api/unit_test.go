package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/mx"
)

func TestWholeSecondsRoundUp(t *testing.T) {
	for d, want := range map[time.Duration]int{0: 1, time.Nanosecond: 1, time.Second: 1, 1001 * time.Millisecond: 2, time.Hour: 3600} {
		require.Equal(t, want, wholeSeconds(d), d)
	}
}

func TestReadKey(t *testing.T) {
	key := ledger.NewKey()
	for name, c := range map[string]struct {
		header, value string
		ok            bool
	}{
		"own header":      {"X-API-Key", key, true},
		"spaces around":   {"X-API-Key", " " + key + " ", true},
		"bearer":          {"Authorization", "Bearer " + key, true},
		"bearer, upper":   {"Authorization", "BEARER  " + key, true},
		"basic":           {"Authorization", "Basic " + key, false},
		"no scheme":       {"Authorization", key, false},
		"cut off":         {"X-API-Key", key[:41], false},
		"one digit wrong": {"X-API-Key", "ask_0" + strings.Repeat("0", 31) + "000000", false},
		"other prefix":    {"X-API-Key", "ASK_" + key[4:], false},
		"empty":           {"X-API-Key", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, p := readKey(http.Header{http.CanonicalHeaderKey(c.header): {c.value}})
			require.Equal(t, c.ok, p == nil)
			if c.ok {
				require.Equal(t, key, got)
				return
			}
			require.Equal(t, "INVALID_API_KEY", p.name)
			require.NotContains(t, p.message, key, "the key is repeated")
		})
	}
}

func TestRequestIDIsHarmless(t *testing.T) {
	require.Equal(t, "a-b_c.d:1", requestID("a-b_c.d:1"))
	for _, odd := range []string{"", "a b", "a\r\nX: y", "ü", strings.Repeat("a", 129)} {
		require.Regexp(t, "^[A-Z2-7]{26}$", requestID(odd))
	}
}

func TestLookupFailuresHaveTheirCode(t *testing.T) {
	for err, want := range map[error][2]string{
		&mx.Error{Kind: mx.Timeout, Reason: mx.NoAnswer}:  {"DNS_TIMEOUT", "DNS lookup timed out for domain mail.example"},
		context.DeadlineExceeded:                          {"DNS_TIMEOUT", "DNS lookup timed out for domain mail.example"},
		&mx.Error{Kind: mx.Failure, Reason: mx.Malformed}: {"DNS_FAILURE", "DNS lookup failed for domain mail.example"},
		errors.New("odd"):                                 {"DNS_FAILURE", "DNS lookup failed for domain mail.example"},
	} {
		code, message := itemError(err, "mail.example")
		require.Equal(t, want, [2]string{code, message})
		require.Equal(t, http.StatusServiceUnavailable, lookupProblem(err).status)
	}
}

func TestOpenAPIDescribesEveryRouteAndCode(t *testing.T) {
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]any
	}
	require.NoError(t, json.Unmarshal(description, &doc))
	require.Equal(t, "3.1.0", doc.OpenAPI)
	for path, r := range routes {
		if path == "/v1/email" {
			path = "/v1/email/{email}"
		}
		// HEAD and OPTIONS are described once for all, so that no client gets a
		// function for them.
		require.Contains(t, doc.Paths[path], strings.ToLower(r.methods[0]), path)
	}
	for _, c := range []code{invalidKey, wrongMediaType, bodyTooLarge, missingEmail, invalidFormat, invalidRequest,
		emptyBatch, batchSizeExceeded, insufficientUsage, idemConflict, idemMismatch, internal, cancelled} {
		require.Contains(t, string(description), c.name)
	}
}

// Every code has the shape of the contract for its status, in each operation's style.
func TestShapeOfEveryStatus(t *testing.T) {
	byStatus := map[int][2]shape{ // single, batch
		400: {flat, enveloped}, 401: {flat, flat}, 402: {flat, enveloped}, 403: {flat, flat}, 404: {flat, flat}, 405: {flat, flat},
		409: {flat, enveloped}, 413: {flat, enveloped}, 415: {flat, enveloped}, 422: {flat, enveloped}, 429: {rate, rate}, 500: {flat, flat}, 503: {flat, flat},
	}
	for _, c := range []code{notFound, wrongMethod, invalidEdgeSecret, invalidKey, tooMany, wrongMediaType, bodyTooLarge, missingEmail, invalidFormat,
		invalidRequest, emptyBatch, batchSizeExceeded, insufficientUsage, idemConflict, idemMismatch, internal, cancelled} {
		p := c.with("x")
		require.Equal(t, byStatus[c.status], [2]shape{p.shapeIn(singleStyle.inputShape), p.shapeIn(batchStyle.inputShape)}, c.name)
	}
}
