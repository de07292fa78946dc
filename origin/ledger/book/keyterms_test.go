package book

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
		"https://a_b.example":                 "neither a domain name",
		"https://a\xff.example":               "neither a domain name",
		"https://" + strings.Repeat("a", 300): "over 300 bytes",
	} {
		_, err := parseOrigin(text)
		require.ErrorContains(t, err, why, text)
	}
	many := []string{}
	for n := range maxOrigins + 1 {
		many = append(many, fmt.Sprintf("https://shop%d.example", n))
	}
	k := Key{Name: "page", KeyTerms: KeyTerms{Origins: append(many[:maxOrigins:maxOrigins], many[:maxOrigins]...)}}
	require.NoError(t, CheckKey(&k))
	require.Len(t, k.Origins, maxOrigins, "each counts once")
	k.Origins = many
	require.ErrorContains(t, CheckKey(&k), "20 origins at most")
}

// The serialisation of an origin is its own serialisation, and has no part that a
// browser leaves out.
func FuzzParseOrigin(f *testing.F) {
	for _, text := range []string{"https://shop.example", "HTTPS://Shop.Example:443/", "http://localhost:3000", "https://bücher.example", "https://[::1]", "https://127.1", "null", "https://*.example", "https://a@b", "https://a.example:0", "https://0\xff"} {
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
		u := must(url.Parse(origin))(t)
		require.Equal(t, origin, u.Scheme+"://"+u.Host)
		require.Equal(t, strings.ToLower(origin), origin)
	})
}
