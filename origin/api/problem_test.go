package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every code has the contract's shape for its status, in each operation.
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

// Every 401 has a challenge (RFC 9110 section 11.6.1), and none for which a browser shows
// a dialog.
func TestChallenges(t *testing.T) {
	f := newFakes(t)
	f.Pages = pagesOf(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	ask := func(method, target string) string {
		w := f.send(httptest.NewRequest(method, target, nil))
		require.Equal(t, http.StatusUnauthorized, w.Code, target)
		return w.Header().Get("WWW-Authenticate")
	}
	for _, target := range []string{"/v1/email/a@mail.example", "/v1/email", "/v1/usage"} {
		require.Equal(t, `Bearer realm="addrspec"`, ask(http.MethodGet, target))
	}
	require.Equal(t, `Bearer realm="addrspec"`, ask(http.MethodPost, "/v1/emails"))
	require.Equal(t, `Cookie realm="addrspec"`, ask(http.MethodGet, "/dashboard"))
	for _, c := range []code{invalidKey, invalidSignature} {
		require.NotEmpty(t, header(c.with("x").response(flat), "WWW-Authenticate"), c.name)
	}
}

type pagesOf func(http.ResponseWriter, *http.Request)

func (f pagesOf) ServeHTTP(w http.ResponseWriter, r *http.Request) { f(w, r) }
func (f pagesOf) Has(*http.Request) bool                           { return true }
