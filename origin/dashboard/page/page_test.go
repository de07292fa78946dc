package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/identity/openid"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/limit"
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

// A network and an account have a share of each limit, and leave room to others.
func TestSharesOfLimits(t *testing.T) {
	l := newLimits()
	for name, c := range map[string]struct {
		of   *limit.Limiter[string]
		want int
	}{
		"forms of a network":                {l.Arriving, maxEach},
		"pages of a network":                {l.Pages, maxPages / 4},
		"pages without a database":          {l.Offline, maxPages / 4},
		"checks of an account":              {l.Long, MaxLongEach},
		"pages of policies of an account":   {l.Documents, maxDocsEach},
		"pages that a network has not read": {l.Unsent, maxUnsentEach},
	} {
		require.Equal(t, c.want, fill(c.of, "first"), name)
		require.NotZero(t, fill(c.of, "second"), name)
	}
	l = newLimits()
	exports := 0
	for ; l.Long.Take(t.Context(), "exports of "+strconv.Itoa(exports), MaxLongEach) == nil; exports++ {
	}
	require.Equal(t, (maxLong-keptForChecks)/MaxLongEach, exports)
	require.Equal(t, MaxLongEach, fill(l.Long, "checks of 1"), "of those that exports leave")
}

// fill takes units for an owner until it gets no more, and returns how many it has.
func fill(l *limit.Limiter[string], owner string) int {
	ended, end := context.WithCancel(context.Background())
	end() // so that no take waits
	for l.Take(ended, owner, 1) == nil {
	}
	return l.Held(owner)
}

func TestSealedSecrets(t *testing.T) {
	all := slices.Repeat([]string{strings.Repeat("x", 40)}, 10)
	w := httptest.NewRecorder()
	v := &Visit{Server: &Server{Config: Config{PublicURL: &url.URL{}}}, Writer: w, Token: "token"}
	_, err := v.ShowOnce(Redirect("/page", ""), nil, all...)
	require.NoError(t, err)
	now, sealed := time.Now(), w.Result().Cookies()[0].Value
	require.Less(t, len(sealed), maxOnce)
	require.Equal(t, all, unseal("token", "/page", sealed, now))
	require.Nil(t, unseal("token", "/page", sealed, now.Add(onceLife)), "too late")
	require.Nil(t, unseal("token", "/page", sealed, now.Add(-time.Hour)), "a clock was wrong")
	require.Nil(t, unseal("token", "/page?x", sealed, now))
	require.Nil(t, unseal("token 2", "/page", sealed, now))
	for _, bad := range []string{"", "x", "%", sealed[1:], sealed[:len(sealed)-4] + "AAAA"} {
		require.Nil(t, unseal("token", "/page", bad, now))
	}
}

// An error that a page returns becomes a status, a code and a sentence; a form is refused for an error that no
// page knows, but not for one that it knows.
func TestProblemsOfErrors(t *testing.T) {
	for err, want := range map[error]string{
		book.ErrNoPolicy:       "404 NOT_FOUND There is no such page, or it is not yours.",
		store.ErrUnavailable:   "503 UNAVAILABLE The database does not respond at the moment. Try again shortly.",
		identity.ErrWrongCode:  "422 REFUSED " + Sentence(identity.ErrWrongCode),
		openid.ErrRefused:      "403 PROVIDER_REFUSED " + Sentence(openid.ErrRefused) + " Try again, or sign in another way.",
		errors.New("a secret"): "500 INTERNAL_ERROR " + errInternal.Sentence,
	} {
		p := ProblemOf(fmt.Errorf("read: %w", err))
		require.Equal(t, want, fmt.Sprint(p.Status, " ", p.Code, " ", p.Sentence))
		require.Equal(t, p.Status == http.StatusInternalServerError, FormProblem(err) != err)
	}
	require.Equal(t, InputProblem("", "It is too long."), FormProblem(errors.New("it is too long")))
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{"": "", "jürgen@例え.jp": "jürgen@例え.jp", "a\x1b[31m": "a[U+001B][31m", "\u202eb\u200b": "[U+202E]b[U+200B]", "\xff": "[U+FFFD]",
		strings.Repeat("é", 321): strings.Repeat("é", 320) + "… (642 bytes)"} {
		require.Equal(t, want, Visible(text))
	}
}
