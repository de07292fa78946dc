package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func testRecord(t *testing.T, key string, account int64, body string) *record {
	t.Helper()
	r, p := readRecord(http.Header{headerIdempotency: {key}}, account, []byte(body))
	require.Nil(t, p)
	return r
}

func TestIdempotencyRecord(t *testing.T) {
	r := testRecord(t, "one", 1, "body")
	require.Equal(t, r.Idempotency, testRecord(t, `"one"`, 1, "body").Idempotency, "the quoted key is the same")
	require.NotEqual(t, r.ID, testRecord(t, "two", 1, "body").ID)
	require.NotEqual(t, r.ID, testRecord(t, "one", 2, "body").ID)
	require.Equal(t, r.ID, testRecord(t, "one", 1, "another").ID)
	require.NotEqual(t, r.Body, testRecord(t, "one", 1, "another").Body)
	// With the account as text, account 1 with key 11 would equal account 11 with key 1.
	require.NotEqual(t, testRecord(t, "11", 1, "").ID, testRecord(t, "1", 11, "").ID)
}

func TestReadIdempotencyKey(t *testing.T) {
	none, p := readRecord(http.Header{}, 1, nil)
	require.Nil(t, p)
	require.Nil(t, none)
	for _, good := range []string{strings.Repeat("k", 255), `"` + strings.Repeat("k", 255) + `"`, `"`, `"x`, `x"`, `"a,b"`, `"a\"b"`} {
		testRecord(t, good, 1, "")
	}
	for _, bad := range []string{strings.Repeat("k", 256), `"` + strings.Repeat("k", 256) + `"`, `""`, "a,b", `"a", "b"`, `"a","b`} {
		_, p := readRecord(http.Header{headerIdempotency: {bad}}, 1, nil)
		require.NotNil(t, p, bad)
		require.Equal(t, "INVALID_REQUEST", p.Name)
	}
}

func TestSealAndOpen(t *testing.T) {
	resp := []byte(strings.Repeat(`{"email":"a@mail.example"}`, 100))
	r := testRecord(t, "one", 1, "body")
	sealed := r.seal(resp)
	require.NotContains(t, string(sealed), "mail.example")
	require.Less(t, len(sealed), len(resp)/5, "compressed")
	require.NotEqual(t, sealed, r.seal(resp), "random nonce")
	again, err := testRecord(t, `"one"`, 1, "body").open(sealed)
	require.NoError(t, err)
	require.Equal(t, resp, again)
	for name, other := range map[string]*record{
		"another key":     testRecord(t, "two", 1, "body"),
		"another account": testRecord(t, "one", 2, "body"),
		"another body":    testRecord(t, "one", 1, "other"),
		"no key":          nil,
	} {
		_, err := other.open(sealed)
		require.Error(t, err, name)
	}
	_, err = r.open(sealed[:10])
	require.Error(t, err)
}

// A stored response that is longer than any response is refused before it takes that memory.
func TestOpenLimit(t *testing.T) {
	r := testRecord(t, "one", 1, "body")
	resp, err := r.open(r.seal(make([]byte, maxResponse)))
	require.NoError(t, err)
	require.Len(t, resp, maxResponse)
	_, err = r.open(r.seal(make([]byte, maxResponse+1)))
	require.ErrorIs(t, err, errTooBig)
	_, err = r.open(r.aead.Seal(nil, nil, []byte("no DEFLATE"), r.Body[:]))
	require.Error(t, err)
}
