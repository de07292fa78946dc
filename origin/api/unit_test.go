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
			got, refusal := readKey(http.Header{http.CanonicalHeaderKey(c.header): {c.value}})
			require.Equal(t, c.ok, refusal == nil)
			if c.ok {
				require.Equal(t, key, got)
				return
			}
			require.Equal(t, "INVALID_API_KEY", refusal.code)
			require.NotContains(t, refusal.message, key, "the key is repeated")
		})
	}
}

func TestRequestIDIsHarmless(t *testing.T) {
	require.Equal(t, "a-b_c.d:1", requestID("a-b_c.d:1"))
	for _, odd := range []string{"", "a b", "a\r\nX: y", "ü", strings.Repeat("a", 129)} {
		require.Regexp(t, "^[A-Z2-7]{26}$", requestID(odd))
	}
}

func TestSealedAnswerOpensUnderTheSameKeyOnly(t *testing.T) {
	header := http.Header{"Idempotency-Key": {"one"}}
	body := []byte(`{"emails":["a@mail.example"]}`)
	mine, f := readOnce(header, "my key", body)
	require.Nil(t, f)
	sealed := mine.seal(body)
	require.NotContains(t, string(sealed), "mail.example")
	opened, err := mine.aead.Open(nil, nil, sealed, mine.Body[:])
	require.NoError(t, err)
	require.Equal(t, body, opened)
	other, _ := readOnce(header, "other key", body)
	_, err = other.aead.Open(nil, nil, sealed, other.Body[:])
	require.Error(t, err)
	require.NotEqual(t, mine.ID, other.ID)
}

func TestLookUpFailuresAreTold(t *testing.T) {
	for err, code := range map[error]string{
		&mx.Error{Kind: mx.Timeout, Reason: mx.NoAnswer}:  "DNS_TIMEOUT",
		context.DeadlineExceeded:                          "DNS_TIMEOUT",
		&mx.Error{Kind: mx.Failure, Reason: mx.Malformed}: "DNS_FAILURE",
		errors.New("odd"):                                 "DNS_FAILURE",
	} {
		got, message := itemError(err, "mail.example")
		require.Equal(t, code, got)
		require.Contains(t, message, "mail.example")
		require.Equal(t, http.StatusServiceUnavailable, dnsUnavailable(err).status)
	}
}

func TestOpenAPIDescribesEveryRouteAndProblem(t *testing.T) {
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
		require.Contains(t, doc.Paths[path], strings.ToLower(r.method), path)
	}
	for _, p := range []problem{invalidKey, wrongMediaType, bodyTooLarge, missingEmail, invalidFormat, invalidRequest,
		emptyBatch, batchSizeExceeded, insufficientUsage, idemConflict, idemMismatch, internal, cancelled} {
		require.Contains(t, string(description), p.code)
	}
}
