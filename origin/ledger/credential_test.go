package ledger

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecretIsWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		secret := NewSecret()
		require.True(t, WellFormed(secret))
		require.False(t, seen[secret])
		seen[secret] = true
	}
}

// All digits are equally likely.
func TestSecretIsUniform(t *testing.T) {
	const each = 4000 // expected; the standard deviation is 63
	count := map[byte]int{}
	for _, b := range appendRandom(nil, 62*each) {
		count[b]++
	}
	require.Len(t, count, 62)
	for digit, n := range count {
		require.InDelta(t, each, n, each/10, "%c", digit)
	}
}

// The checksums were computed with another program (Python's zlib.crc32).
func TestSecretFormat(t *testing.T) {
	good := "ask_" + strings.Repeat("0", 32) + zeroChecksum
	for name, c := range map[string]struct {
		secret string
		want   bool
	}{
		"the format's example":        {good, true},
		"mixed digits":                {mixedKey, true},
		"empty":                       {"", false},
		"only the prefix":             {"ask_", false},
		"another prefix":              {"ASK_" + good[4:], false},
		"a random digit mistyped":     {"ask_1" + good[5:], false},
		"a checksum digit mistyped":   {good[:41] + "z", false},
		"two digits swapped":          {mixedKey[:6] + mixedKey[7:8] + mixedKey[6:7] + mixedKey[8:], false},
		"a character short":           {good[:41], false},
		"a character long":            {good + "0", false},
		"a trailing space":            {good + " ", false},
		"not a digit, checksum right": {string(appendChecksum([]byte("ask_" + strings.Repeat("-", 32)))), false},
		"NUL inside":                  {"ask_\x00" + good[5:], false},
		"non-ASCII letters":           {"ask_" + strings.Repeat("é", 19), false},
	} {
		require.Equal(t, c.want, WellFormed(c.secret), name)
	}
}

func TestHint(t *testing.T) {
	require.Equal(t, mixedKey[:8], hint(mixedKey))
}

func FuzzWellFormed(f *testing.F) {
	f.Add(mixedKey)           // well formed
	f.Add(mixedKey[:41])      // one byte short
	f.Add(mixedKey + "\n")    // a trailing newline
	f.Add("")                 // empty
	f.Add("ask_é" + mixedKey) // not ASCII
	f.Fuzz(func(t *testing.T, secret string) {
		if WellFormed(secret) {
			require.Equal(t, secret, string(appendChecksum([]byte(secret[:36]))))
		}
	})
}

const (
	zeroChecksum = "2CGNRW"
	mixedKey     = "ask_aZ09bY18cX27dW36eV45fU54gT63hS721AVJkd"
)

func TestParseOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"https://shop.example":            "https://shop.example",
		"HTTPS://Shop.EXAMPLE:443/":       "https://shop.example",
		"https://shop.example:08443":      "https://shop.example:8443",
		"https://bücher.example":          "https://xn--bcher-kva.example",
		"https://192.0.2.1:80":            "https://192.0.2.1:80",
		"https://[2001:DB8:0::1]":         "https://[2001:db8::1]",
		"http://localhost:80":             "http://localhost",
		"http://localhost:3000":           "http://localhost:3000",
		"http://app.localhost:3000":       "http://app.localhost:3000",
		"http://127.0.0.1:3000":           "http://127.0.0.1:3000",
		"http://[::1]:3000":               "http://[::1]:3000",
		"https://localhost.shop.example/": "https://localhost.shop.example",
	} {
		got, err := parseOrigin(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		again, err := parseOrigin(got)
		require.NoError(t, err, text)
		require.Equal(t, got, again, "a serialisation is its own")
	}
	for text, why := range map[string]string{
		"":                                    "must begin with https://",
		"null":                                "null is the origin of every sandboxed page",
		"*":                                   "no wildcards",
		"https://*.shop.example":              "no wildcards",
		"shop.example":                        "must begin with https://",
		"ftp://shop.example":                  "must begin with https://",
		"http://shop.example":                 "http is for localhost only",
		"http://localhost.shop.example":       "http is for localhost only",
		"http://192.0.2.1":                    "http is for localhost only",
		"https://shop.example/page":           "no user, path",
		"https://shop.example//":              "no user, path",
		"https://shop.example?":               "no user, path",
		"https://shop.example#":               "no user, path",
		"https://me@shop.example":             "no user, path",
		"https://":                            "no user, path",
		"https://:443":                        "the host is missing",
		"https://shop.example.":               "neither a domain name",
		"https://shop..example":               "neither a domain name",
		"https://0x7f.1":                      "neither a domain name",
		"https://127.1":                       "neither a domain name",
		"https://[::ffff:192.0.2.1]":          "neither a domain name",
		"https://[fe80::1%25eth0]":            "neither a domain name",
		"https://shop.example:0":              "1 to 65535",
		"https://shop.example:":               "1 to 65535",
		"https://shop.example:65536":          "1 to 65535",
		"https://shop.example https://b.test": "must begin with https://",
		"https://a,b.example":                 "neither a domain name",
		"https://" + strings.Repeat("a", 300): "over 300 bytes",
	} {
		_, err := parseOrigin(text)
		require.ErrorContains(t, err, why, text)
	}
	many := []string{}
	for n := range maxOrigins + 1 {
		many = append(many, fmt.Sprintf("https://shop%d.example", n))
	}
	list, err := parseOrigins(append(many[:maxOrigins:maxOrigins], many[:maxOrigins]...))
	require.NoError(t, err)
	require.Len(t, list, maxOrigins, "each counts once")
	_, err = parseOrigins(many)
	require.ErrorContains(t, err, "20 origins at most")
}

// The serialisation of an origin is its own serialisation, and has no part that a
// browser leaves out.
func FuzzParseOrigin(f *testing.F) {
	for _, text := range []string{"https://shop.example", "HTTPS://Shop.Example:443/", "http://localhost:3000", "https://bücher.example", "https://[::1]", "https://127.1", "null", "https://*.example", "https://a@b", "https://a.example:0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		origin, err := parseOrigin(text)
		if err != nil {
			return
		}
		again, err := parseOrigin(origin)
		require.NoError(t, err, origin)
		require.Equal(t, origin, again)
		u, err := url.Parse(origin)
		require.NoError(t, err)
		require.Equal(t, origin, u.Scheme+"://"+u.Host)
		require.Equal(t, strings.ToLower(origin), origin)
	})
}
