package api

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func testRecord(t *testing.T, key string, account int64, body string) *idempotencyRecord {
	t.Helper()
	r, p := readIdempotencyKey(http.Header{headerIdempotency: {key}}, account, []byte(body))
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
	none, p := readIdempotencyKey(http.Header{}, 1, nil)
	require.Nil(t, p)
	require.Nil(t, none)
	require.Nil(t, none.identity())
	require.Nil(t, none.seal([]byte("x")), "nothing to store")
	for _, good := range []string{strings.Repeat("k", 255), `"` + strings.Repeat("k", 255) + `"`, `"`, `"x`, `x"`, `"a,b"`, `"a\"b"`} {
		testRecord(t, good, 1, "")
	}
	for _, bad := range []string{strings.Repeat("k", 256), `"` + strings.Repeat("k", 256) + `"`, `""`, "a,b", `"a", "b"`, `"a","b`} {
		_, p := readIdempotencyKey(http.Header{headerIdempotency: {bad}}, 1, nil)
		require.NotNil(t, p, bad)
		require.Equal(t, "INVALID_REQUEST", p.name)
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
	for name, other := range map[string]*idempotencyRecord{
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

func TestDecompressLimit(t *testing.T) {
	zeros := compress(make([]byte, 1<<20))
	plain, err := decompress(zeros, 1<<20)
	require.NoError(t, err)
	require.Len(t, plain, 1<<20)
	_, err = decompress(zeros, 1<<20-1)
	require.ErrorIs(t, err, errTooBig)
	_, err = decompress([]byte("no DEFLATE"), 1<<20)
	require.Error(t, err)
}

// The output of a reused compressor does not depend on earlier input.
func TestCompressorReuse(t *testing.T) {
	first := compress([]byte("abcabcabc"))
	compress(bytes.Repeat([]byte("something else "), 1000))
	require.Equal(t, first, compress([]byte("abcabcabc")))
}
