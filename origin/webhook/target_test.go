package webhook

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAcceptedURLs(t *testing.T) {
	long := "https://example.com/" + strings.Repeat("a", maxURL-len("https://example.com/"))
	for raw, want := range map[string]string{
		"https://example.com":                         "https://example.com/",
		"HTTPS://Hooks.Example.com/A?b=C":             "https://hooks.example.com/A?b=C",
		"https://example.com:443/":                    "https://example.com/",
		"https://example.com:0443/":                   "https://example.com/",
		"https://example.com:/":                       "https://example.com/",
		"https://example.com:8443/x":                  "https://example.com:8443/x",
		"https://example.com:65535/":                  "https://example.com:65535/",
		"https://xn--bcher-kva.example.org/%2f%E2%82": "https://xn--bcher-kva.example.org/%2f%E2%82",
		"https://8.8.8.8/":                            "https://8.8.8.8/",
		"https://[2606:4700:0:0::1111]:1024/":         "https://[2606:4700::1111]:1024/",
		"https://3com.a1/":                            "https://3com.a1/",
		long:                                          long,
	} {
		got, err := acceptURL(raw, newGuard(nil))
		require.NoError(t, err, raw)
		require.Equal(t, want, got)
		require.NoError(t, CheckURL(want))
		if raw != want {
			require.ErrorIs(t, CheckURL(raw), ErrURL, raw)
		}
	}
}

// An error does not quote the path or the query, which often contain a secret.
func TestRefusedURLs(t *testing.T) {
	for because, list := range map[string][]string{
		"https://":      {"", "ftp://example.com/", "example.com", "//example.com/"},
		"not encrypted": {"http://example.com/s3cret"},
		"no host":       {"https:example.com", "https:///path"},
		"user name":     {"https://user@example.com/", "https://user:s3cret@example.com/", "https://@example.com/"},
		"fragment":      {"https://example.com/#x", "https://example.com/#"},
		"backslash":     {"https://example.com\\@127.0.0.1/"},
		"space":         {"https://example.com/a b", " https://example.com/"},
		"control":       {"https://example.com/\r\nHost:x"},
		"xn--":          {"https://bücher.example.com/"},
		"port": {"https://example.com:80/", "https://example.com:25/", "https://example.com:1023/",
			"https://example.com:0/", "https://example.com:65536/", "https://example.com:99999999999/"},
		"no dot": {"https://localhost/", "https://intranet/"},
		"no public address": {"https://a.localhost/", "https://printer.local/",
			"https://metadata.google.internal/"},
		"not public": {"https://127.0.0.1/", "https://[::1]/", "https://[::ffff:127.0.0.1]/",
			"https://[::ffff:7f00:1]/", "https://169.254.169.254/s3cret"},
		"usual form": {"https://127.0.0.1./", "https://127.1/", "https://0x7f.1/", "https://0x7f000001/",
			"https://2130706433/", "https://0177.0.0.1/", "https://1.2.3.08/", "https://foo.0x/",
			"https://[fe80::1%25eth0]/", "https://[2606:4700::1111%25lo]/"},
		"2048 bytes": {"https://example.com/" + strings.Repeat("a", maxURL)},
		"not a name": {"https://a..example.com/", "https://" + strings.Repeat("a", 64) + ".com/",
			"https://example.com./"},
		"not a URL": {"https://a%2eb.com/", "https://a.example.com:s3cret/", "https://a.example.com/%zz?s3cret"},
	} {
		for _, raw := range list {
			err := errOf(acceptURL(raw, newGuard(nil)))
			require.ErrorIs(t, err, ErrURL, raw)
			require.ErrorContains(t, err, because, raw)
			require.NotContains(t, err.Error(), "s3cret")
		}
	}
}

// An operator's own networks are permitted, with the names that hosts have there, and no other network.
func TestAllowedNetworks(t *testing.T) {
	guard := newGuard([]netip.Prefix{netip.MustParsePrefix("10.20.0.0/16"), netip.MustParsePrefix("fd00:1::/32")})
	for _, raw := range []string{"https://10.20.3.4/", "https://[fd00:1::1]/", "https://receiver:8443/", "https://hooks.internal/",
		"https://hooks.example.com/"} {
		require.NoError(t, errOf(acceptURL(raw, guard)), raw)
		require.NoError(t, CheckURL(raw), raw)
	}
	for _, raw := range []string{"https://10.21.0.1/", "https://[fd00:2::1]/", "https://127.0.0.1/", "https://169.254.169.254/",
		"http://10.20.3.4/", "https://10.20.3.4:25/"} {
		require.ErrorIs(t, errOf(acceptURL(raw, guard)), ErrURL, raw)
	}
	require.NoError(t, guard.Safe("tcp4", "10.20.3.4:443", nil))
	require.Error(t, guard.Safe("tcp4", "10.21.0.1:443", nil))
}

// What is accepted is bounded, canonical, public if it is a literal, and goes to
// the host and port that it shows.
func FuzzAccept(f *testing.F) {
	for _, seed := range []string{
		"https://example.com/", "HTTPS://EXAMPLE.com:0443/a?b", "https://[2606:4700::1111]:8443/", // accepted
		"https://0x7f.1/", "https://2130706433/", "https://[::ffff:127.0.0.1]/", "https://127.0.0.1./", // loopback in odd forms
		"https://a@b/", "https://a\\@b/", "https://a.b/#", "https://a%2eb.com", "https://a.b:/", // confuse parsers
	} {
		f.Add(seed)
	}
	guard := newGuard(nil)
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := acceptURL(raw, guard)
		if err != nil {
			require.ErrorIs(t, err, ErrURL)
			require.Less(t, len(err.Error()), 300)
			return
		}
		require.LessOrEqual(t, len(got), maxURL)
		again := must(acceptURL(got, guard))(t)
		require.Equal(t, got, again)
		r := must(http.NewRequest(http.MethodPost, got, nil))(t)
		u := must(url.Parse(got))(t)
		require.Equal(t, "https", r.URL.Scheme)
		require.Equal(t, u.Host, r.Host)
		require.Nil(t, u.User)
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
			require.NoError(t, guard.SafeAddr(ip))
			require.True(t, ip.IsGlobalUnicast() && !ip.IsPrivate())
		} else {
			require.Contains(t, u.Host, ".")
		}
	})
}
