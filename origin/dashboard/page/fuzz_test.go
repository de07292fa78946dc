package page

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A JSON body becomes a form with the same fields, or a problem with a sentence.
func FuzzParseJSONForm(f *testing.F) {
	for _, text := range []string{`{"name":"shop"}`, `{"origins":["a","b"],"rate":2,"on":true,"none":null}`, `{"a":{"b":1}}`, `[1]`, ``, `{"a":[[["x"]]]}`, "{\"\xff\":1}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		form, err := parseJSONForm(text)
		if err != nil {
			p := ProblemOf(err)
			require.NotEqual(t, http.StatusInternalServerError, p.Status)
			require.NotEmpty(t, p.Sentence)
			return
		}
		for _, values := range form {
			require.NotEmpty(t, values)
		}
	})
}

// After sign-in people stay on this site, whatever the link said.
func FuzzReturnTo(f *testing.F) {
	for _, to := range []string{"/dashboard/keys", "//evil.example", "/\\evil.example", "https://evil.example/dashboard", "/dashboard/../..//evil.example", "/dashboard?to=//x", "\t//x",
		"/dashboard/\r\nSet-Cookie: x", "javascript:alert(1)", "", "/dashboardx", "/sign-out"} {
		f.Add(to)
	}
	here := &url.URL{Scheme: "https", Host: "addrspec.example", Path: "/sign-in"}
	f.Fuzz(func(t *testing.T, to string) {
		r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/sign-in", RawQuery: url.Values{"to": {to}}.Encode()}}
		got := (&Visit{Request: r}).ReturnTo()
		led, err := here.Parse(got)
		require.NoError(t, err)
		require.Equal(t, "addrspec.example", led.Host, got)
		require.Regexp(t, `^/dashboard(?:$|[/?#])`, got)
		require.NotContains(t, got, "\\")
	})
}

// X-Forwarded-For is what anybody may write. Only a trusted proxy is believed.
func FuzzCallerAddress(f *testing.F) {
	for _, header := range []string{"203.0.113.7", "10.0.0.9, 203.0.113.7", "[2001:db8::1]:443", "unknown", ",,", "::ffff:203.0.113.7", "203.0.113.7, 10.0.0.2"} {
		f.Add(header)
	}
	d := &Server{Config: Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}
	f.Fuzz(func(t *testing.T, header string) {
		h := http.Header{"X-Forwarded-For": {header}}
		require.Equal(t, "198.51.100.1/32", d.callerAddress(&http.Request{RemoteAddr: "198.51.100.1:9", Header: h}))
		require.NotContains(t, d.callerAddress(&http.Request{RemoteAddr: "10.0.0.1:9", Header: h}), "invalid")
	})
}

// A form in JSON has at most maxCommas commas, wherever they are.
func TestFormsInJSONAreBounded(t *testing.T) {
	for _, commas := range []int{maxCommas, maxCommas + 1} {
		form, err := parseJSONForm([]byte(`{"a": [` + strings.Repeat(`"",`, commas) + `""]}`))
		require.Equal(t, commas > maxCommas, err != nil)
		require.Equal(t, err == nil, len(form["a"]) == commas+1)
	}
}
