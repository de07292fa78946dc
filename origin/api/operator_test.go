package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// An unready ledger cannot commit.
type unready struct{ Ledger }

func (unready) Ready(context.Context) error { return store.ErrUnavailable }

// The operator's paths are at the public listener, unless the operator has a listener. Health stays.
func TestOperatorsPaths(t *testing.T) {
	f := newFakes(t)
	at := func(h http.Handler, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w
	}
	for _, apart := range []bool{false, true} {
		f.OperatorApart = apart
		public := map[bool]int{false: http.StatusOK, true: http.StatusNotFound}[apart]
		for _, path := range []string{"/metrics", "/readyz"} {
			require.Equal(t, public, at(f, path).Code, path)
			require.Equal(t, http.StatusOK, at(f.Operator(), path).Code, path)
		}
		require.Equal(t, `{"status":"ok"}`, at(f, "/healthz").Body.String())
	}
	require.Equal(t, http.StatusNotFound, f.send(httptest.NewRequest(http.MethodPost, "/metrics", nil)).Code, "it is not revealed that the path exists")
	require.Equal(t, http.StatusNotFound, at(f.Operator(), "//metrics").Code)
	require.Contains(t, at(f.Operator(), "/v1/emails").Body.String(), "it has GET /metrics")
	require.Equal(t, http.StatusNotFound, at(f.Operator(), "/openapi.json").Code)
	require.Contains(t, at(f.Operator(), "/metrics").Body.String(), `addrspec_requests_total{route="metrics",status="200"}`)
	require.Contains(t, at(f.Operator(), "/readyz").Body.String(), `{"status":"ready","database":"ok","engine":"`)
	require.Contains(t, at(f, "/openapi.json").Body.String(), `"openapi"`)

	require.Equal(t, http.StatusUnauthorized, at(f, "/v1/email/jane@example.com").Code)
	require.Equal(t, map[int]int64{401: 1}, f.Metrics.Refused(), "and no path that needs no key")

	require.Equal(t, http.StatusNotFound, at(f, "/.well-known/security.txt").Code)
	text := []byte("Contact: mailto:security@addrspec.example\n")
	f.SecurityTxt.Store(&text)
	w := at(f, "/.well-known/security.txt")
	require.Equal(t, string(text), w.Body.String())
	require.Equal(t, "text/plain; charset=utf-8", w.Header().Get("Content-Type"))
}

// A service that cannot serve is not ready, and says why.
func TestReadyz(t *testing.T) {
	f := newFakes(t)
	ready := func() string {
		w := f.send(httptest.NewRequest(http.MethodGet, "/readyz", nil))
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		require.Equal(t, "1", w.Header().Get("Retry-After"))
		return w.Body.String()
	}
	f.Distrusted = func() bool { return true }
	require.Contains(t, ready(), "The resolvers deny MX records that exist")
	f.Ledger = unready{f.Ledger}
	require.Contains(t, ready(), "The ledger cannot commit")
	f.Stop()
	require.Contains(t, ready(), "The service is stopping")
}
