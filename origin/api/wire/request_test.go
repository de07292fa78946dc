package wire

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

func TestReadKey(t *testing.T) {
	key := book.NewSecret()
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
			got, p := ReadKey(http.Header{http.CanonicalHeaderKey(c.header): {c.value}})
			require.Equal(t, c.ok, p == nil)
			if c.ok {
				require.Equal(t, key, got)
				return
			}
			require.Equal(t, "INVALID_API_KEY", p.Name)
			require.NotContains(t, p.Message, key, "the message repeats the key")
		})
	}
}

func TestSingleValue(t *testing.T) {
	for want, values := range map[string][]string{"": nil, "x": {"x"}} {
		value, one := SingleValue(http.Header{"X": values}, "X")
		require.True(t, one)
		require.Equal(t, want, value)
	}
	for _, values := range [][]string{{"a,b"}, {","}, {"a", "b"}, {"", ""}, {"a", "a"}} {
		_, one := SingleValue(http.Header{"X": values}, "X")
		require.False(t, one, values)
	}
}

func TestRequestID(t *testing.T) {
	id := func(given string) string { return RequestID(http.Header{HeaderRequestID: {given}}) }
	require.Equal(t, "a-b_c.d:1", id("a-b_c.d:1"))
	for _, odd := range []string{"", "a b", "a\r\nX: y", "ü", "a,b", strings.Repeat("a", 129)} {
		require.Regexp(t, "^[A-Z2-7]{26}$", id(odd))
	}
}

func TestReadOptions(t *testing.T) {
	longest := strings.Repeat("a", 64)
	for query, want := range map[string]Options{
		"": {}, "details=true": {Details: true}, "details=false": {}, "a=b&details=true&c": {Details: true},
		"Details=true": {}, "%64etails=true": {}, "detailsx=true": {}, "x=details=true": {}, "&&": {},
		"policy=a": {Policy: "a"}, "x=1&policy=sign-up_2&y": {Policy: "sign-up_2"}, "Policy=a": {}, "policyx=a": {},
		"x=policy=a": {}, "%70olicy=a": {}, "policy=" + longest: {Policy: longest}, "policy=b&details=true": {true, "b"},
	} {
		options, p := ReadOptions(query)
		require.Nil(t, p, query)
		require.Equal(t, want, options, query)
	}
	for _, query := range []string{"details", "details=", "details=1", "details=TRUE", "details=true&details=true",
		"details=true&details=false", "details=tru%65", "details=true;", "details=true=true",
		"policy", "policy=", "policy=A", "policy=a&policy=a", "policy=a&policy=b", "policy=a&policy", "policy=%61", "policy=a=",
		"policy=a;", "policy=..", "policy=a/b", "policy='", "policy=a" + longest} {
		_, p := ReadOptions(query)
		require.NotNil(t, p, query)
		require.Equal(t, "INVALID_REQUEST", p.Name)
	}
}
