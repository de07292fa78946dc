package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
)

func TestReadKey(t *testing.T) {
	key := ledger.NewSecret()
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
			require.NotContains(t, p.message, key, "the message repeats the key")
		})
	}
}
