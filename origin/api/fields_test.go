package api

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
)

// All fields of a response have canonical names, as http.Header.Get requires, and
// values of their own: adding to one does not change another.
func TestFields(t *testing.T) {
	h := http.Header{}
	a := response{allow: "GET", preflight: "GET", allowOrigin: "https://example.org", replayed: true, edgeMX: "true", retryAfter: time.Second,
		usage: &ledger.Usage{Current: 3, Limit: 2, Overage: true}, quota: &ledger.Quota{Rate: 5, Tokens: 4}}
	f := fieldsOf(h)
	a.setExtras(f)
	for range usualFields { // more than usual
		f.set("X-More", "1")
	}
	require.Len(t, h, 16)
	for name, values := range h {
		require.Equal(t, http.CanonicalHeaderKey(name), name)
		require.Len(t, values, 1, name)
		require.Equal(t, 1, cap(values), name)
	}
	require.Equal(t, "3", h.Get("X-Usage-Current"))
	require.Equal(t, "GET", h.Get("Allow"))
}
