package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/wasm/module"
)

func TestFirstSignIn(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		token, err := s.Identity.CreateLink(t.Context(), s.account.ID)
		require.NoError(t, err)
		b := s.browser(t)
		require.Contains(t, b.get("/link/"+token).body, "owner@example.com")
		got := b.submit("/link/"+token, url.Values{})
		require.Equal(t, http.StatusSeeOther, got.status)
		require.Equal(t, "/dashboard/settings/password", got.header.Get("Location"))

		got = b.submit("/dashboard/settings/password", url.Values{"password": {"correct horse battery"}, "again": {"correct horse batter"}})
		require.Equal(t, http.StatusUnprocessableEntity, got.status)
		require.Contains(t, got.body, "The two passwords differ.")
		got = b.submit("/dashboard/settings/password", url.Values{"password": {"correct horse battery"}, "again": {"correct horse battery"}})
		require.Equal(t, "/dashboard?done=password-set", got.header.Get("Location"))

		again := s.browser(t)
		got = again.submit("/sign-in", url.Values{"email": {"Owner@example.com"}, "password": {"correct horse"}})
		require.Equal(t, http.StatusUnprocessableEntity, got.status)
		require.Contains(t, got.body, "The email or the password is wrong.")
		got = again.submit("/sign-in", url.Values{"email": {"Owner@example.com"}, "password": {"correct horse battery"}, "to": {"/dashboard/keys"}})
		require.Equal(t, "/dashboard/keys", got.header.Get("Location"))
		require.Equal(t, http.StatusOK, again.get("/dashboard/keys").status)
		require.Contains(t, again.get("/link/"+token).body, "used already")
	})
}

// A browser without a session is led to the sign-in and back; a program gets
// the reason in JSON.
func TestPagesNeedASession(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", Config{})
	for path, route := range s.routes() {
		if route.access <= public {
			continue
		}
		path = strings.ReplaceAll(path, "{id}", "1")
		got := s.browser(t).get(path)
		require.Equal(t, http.StatusSeeOther, got.status, path)
		require.Equal(t, "/sign-in?to="+url.QueryEscape(path), got.header.Get("Location"))
		var p problemView
		require.Equal(t, http.StatusUnauthorized, s.browser(t).getJSON(path, &p).status, path)
		require.Equal(t, "SIGN_IN", p.Code)
	}
}

// Every POST needs the token of a page of this session, and a browser that does
// not say that it comes from elsewhere.
func TestForgedPosts(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", Config{})
	b := s.operator(t)
	other := s.signedIn(t, s.createAccount(t, "other@example.com").ID)
	tokens := map[string]string{"none": "", "of a stranger": s.browser(t).token("/sign-in"), "of another session": other.token("/dashboard")}
	for path, route := range s.routes() {
		if route.post == nil || path == "/link/{token}" {
			continue
		}
		path = strings.ReplaceAll(path, "{id}", "1")
		for whose, token := range tokens {
			r := b.request("POST", path, strings.NewReader(url.Values{tokenField: {token}}.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			got := b.do(r)
			require.Equal(t, http.StatusForbidden, got.status, "%s with the token %s", path, whose)
		}
		for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			r := b.request("POST", path, strings.NewReader(url.Values{tokenField: {b.token("/dashboard")}}.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set(header, value)
			require.Equal(t, http.StatusForbidden, b.do(r).status, "%s with %s", path, header)
		}
	}
	require.Equal(t, http.StatusOK, b.get("/dashboard").status, "still signed in")
}

func TestKeysOfAnAccount(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		b := s.signedIn(t, s.account.ID)
		require.Contains(t, b.get("/dashboard/keys").body, "There are no keys yet")
		got := b.shown(b.submit("/dashboard/keys", url.Values{"name": {"<b>shop</b>"}}))
		require.Contains(t, got.body, "&lt;b&gt;shop&lt;/b&gt; is ready")
		require.Contains(t, got.body, "ask_")
		require.NotContains(t, b.get("/dashboard/keys").body, `id="secret"`, "shown only once")
		require.NotContains(t, b.get("/dashboard/keys").body, "<b>shop")

		var made keysView
		require.Equal(t, http.StatusOK, b.postJSON("/dashboard/keys", map[string]string{"name": "by JSON"}, &made).status)
		require.Len(t, made.New.Secret, 42)

		var p problemView
		require.Equal(t, http.StatusUnprocessableEntity, b.postJSON("/dashboard/keys", map[string]string{"name": "\u202e"}, &p).status)
		require.Contains(t, p.Sentence, "The name of a key must have")

		revoke := "/dashboard/keys/1/revoke"
		stranger := s.signedIn(t, s.createAccount(t, "other@example.com").ID)
		require.Equal(t, http.StatusNotFound, stranger.get(revoke).status, "another account's key")
		forged := stranger.request("POST", revoke, strings.NewReader(url.Values{tokenField: {stranger.token("/dashboard")}}.Encode()))
		forged.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		require.Equal(t, http.StatusNotFound, stranger.do(forged).status)
		require.Equal(t, "/dashboard/keys?done=key-revoked", b.submit(revoke, url.Values{}).header.Get("Location"))
		require.Contains(t, b.get("/dashboard/keys").body, "revoked")
	})
}

// A test key is made by a switch, and shown as one wherever it is listed.
func TestTestKeysOfAnAccount(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		b := s.signedIn(t, s.account.ID)
		badge := `<span class="tag test">test</span>`
		require.NotContains(t, b.get("/dashboard/keys").body, badge)
		got := b.shown(b.submit("/dashboard/keys", url.Values{"name": {"suite"}, "test": {"on"}}))
		require.Contains(t, got.body, "/v1/email/disposable@addrspec.test", "the line to paste")
		require.Contains(t, b.get("/dashboard/keys").body, badge)
		b.createPolicy("strict", "{}")
		page := b.get("/dashboard/keys/1").body
		require.Contains(t, page, badge)
		require.NotContains(t, page, `name="budget"`)
		require.Equal(t, http.StatusSeeOther, b.submit("/dashboard/keys/1", url.Values{"name": {"suites"}, "expires": {""}, "origins": {""}, "policy": {"strict"}}).status)
		require.Contains(t, b.get(policiesPath).body, `<a href="/dashboard/keys/1">suites</a> `+badge)
		key, err := s.Ledger.Key(t.Context(), s.account.ID, 1)
		require.NoError(t, err)
		require.True(t, key.Test)
		require.Equal(t, "suites", key.Name)
		require.Equal(t, http.StatusUnprocessableEntity, b.submit("/dashboard/keys", url.Values{"name": {"x"}, "test": {"on"}, "budget": {"5"}}).status)
		require.NotContains(t, b.shown(b.submit("/dashboard/keys", url.Values{"name": {"real"}})).body, "disposable@addrspec.test")
		require.Equal(t, 1, strings.Count(b.get("/dashboard/keys").body, badge))
		require.Contains(t, b.get("/dashboard/keys").body, "not recorded", "its last use")
		revoke := b.get("/dashboard/keys/1/revoke").body
		require.Contains(t, revoke, badge)
		require.NotContains(t, revoke, "never used")
		usage := b.get("/dashboard/usage?key=1").body
		require.Contains(t, usage, "suites (test)")
		require.Contains(t, usage, "with this key. Requests with a test key are not counted.")
		require.NotContains(t, b.get("/dashboard/usage?key=2").body, "test key")
		require.Equal(t, 1, strings.Count(s.operator(t).get(fmt.Sprint("/dashboard/operator/accounts/", s.account.ID)).body, badge), "for operators")
	})
}

// Who is signed in has no use for the pages of those who are not.
func TestSignedInAlready(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", Config{SignUp: true})
	b := s.signedIn(t, s.account.ID)
	for path, want := range map[string]string{"/sign-in": "/dashboard", "/sign-in?to=/dashboard/keys": "/dashboard/keys", "/sign-in?to=//evil.example": "/dashboard", "/sign-up": "/dashboard"} {
		got := b.get(path)
		require.Equal(t, http.StatusSeeOther, got.status, path)
		require.Equal(t, want, got.header.Get("Location"))
	}
	r := b.request("POST", "/sign-in", strings.NewReader(url.Values{tokenField: {b.token("/dashboard")}, "email": {"other@example.com"}, "password": {"wrong"}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	got := b.do(r)
	require.Equal(t, http.StatusUnprocessableEntity, got.status, "a form of another tab")
	require.Contains(t, got.body, "The email or the password is wrong.")
}

// Every page forbids inline scripts, and follows its own rule.
func TestPolicy(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", Config{})
	b := s.operator(t)
	for path := range s.routes() {
		if strings.Contains(path, "{") {
			continue
		}
		got := b.get(path)
		if !strings.HasPrefix(path, "/sign-in") && path != "/sign-up" { // which lead on, since the session is complete
			require.Equal(t, http.StatusOK, got.status, path)
		}
		rule := got.header.Get("Content-Security-Policy")
		require.Contains(t, rule, "default-src 'none'")
		require.NotContains(t, rule, "unsafe-inline")
		require.NotContains(t, rule, "'unsafe-eval'")
		require.NotRegexp(t, `(?i)<script(?:[^>]*)>[^<]|\son[a-z]+=|\sstyle=|<style`, got.body, path)
		require.Equal(t, "no-store", got.header.Get("Cache-Control"), path)
		require.Equal(t, "same-origin", got.header.Get("Referrer-Policy"), "a stricter one has forms refused, see setSecurityHeaders")
	}
}

// After sign-in a link must not lead elsewhere.
func TestReturnTo(t *testing.T) {
	for to, want := range map[string]string{
		"/dashboard/keys": "/dashboard/keys", "/dashboard": "/dashboard", "/dashboard?done=x": "/dashboard?done=x",
		"//evil.example": "/dashboard", "https://evil.example/dashboard": "/dashboard", "/\\evil.example": "/dashboard",
		"/dashboard/\r\nSet-Cookie: x": "/dashboard", "javascript:alert(1)": "/dashboard", "": "/dashboard", "/dashboardx": "/dashboard", "/sign-out": "/dashboard",
	} {
		r, err := http.NewRequest("GET", "/sign-in?to="+url.QueryEscape(to), nil)
		require.NoError(t, err)
		require.Equal(t, want, (&visit{r: r}).returnTo(), to)
	}
}

func TestAttemptsToSignIn(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		b := s.browser(t)
		form := url.Values{"email": {"owner@example.com"}, "password": {"wrong"}}
		for range 10 {
			require.Equal(t, http.StatusUnprocessableEntity, b.submit("/sign-in", form).status)
		}
		got := b.submit("/sign-in", form)
		require.Equal(t, http.StatusTooManyRequests, got.status)
		require.Contains(t, got.body, "too many attempts")
	})
}

// The module is the embedded one, byte for byte, compressed or not.
func TestModuleAsset(t *testing.T) {
	wasm, err := module.Bytes()
	require.NoError(t, err)
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", Config{})
	b := s.browser(t)
	got := b.get(assetPath(moduleAsset)) // the client asks for gzip and decompresses
	require.Equal(t, string(wasm), got.body)
	require.Equal(t, "application/wasm", got.header.Get("Content-Type"))
	require.Contains(t, got.header.Get("Cache-Control"), "immutable")
	r := b.request("GET", "/assets/older/"+moduleAsset, nil)
	r.Header.Set("Accept-Encoding", "identity")
	got = b.do(r)
	require.Equal(t, string(wasm), got.body)
	require.Equal(t, "no-cache", got.header.Get("Cache-Control"))
	require.Equal(t, http.StatusNotFound, b.get("/assets/older/nothing.js").status)
}

func TestChangeAndRotateAKey(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		b := s.signedIn(t, s.account.ID)
		var made, rotated struct{ New newKeyView }
		b.postJSON("/dashboard/keys", map[string]any{"name": "shop", "budget": 10, "expires": "90d"}, &made)
		path := "/dashboard/keys/" + strconv.FormatInt(made.New.ID, 10)

		got := b.submit(path, url.Values{"name": {"shop 2"}, "expires": {"2199-01-01"}, "budget": {""}, "rate": {"2"},
			"origins": {"https://shop.example\r\nhttps://www.shop.example:444/"}})
		require.Equal(t, path+"?done=key-changed", got.header.Get("Location"), got.body)
		var page keyPageView
		b.getJSON(path, &page)
		require.Equal(t, "shop 2", page.Key.Name)
		require.Nil(t, page.Key.Budget)
		require.EqualValues(t, 2, *page.Key.Rate)
		require.Equal(t, []string{"https://shop.example", "https://www.shop.example:444"}, page.Key.Origins)
		require.Equal(t, "2199-01-01", page.Key.Expires.Format(time.DateOnly))

		b.postJSON(path, map[string]any{"name": "shop 3"}, new(any))
		b.getJSON(path, &page)
		require.Equal(t, "shop 3", page.Key.Name)
		require.Len(t, page.Key.Origins, 2, "what a program leaves out stays")

		for field, value := range map[string]string{"budget": "-1", "rate": "many", "expires": "tomorrow", "origins": "https://*.example", "name": ""} {
			got := b.submit(path, url.Values{field: {value}})
			require.Equal(t, http.StatusUnprocessableEntity, got.status, field)
			require.Contains(t, got.body, `role="alert"`, field)
		}

		require.Equal(t, http.StatusUnprocessableEntity, b.submit(path+"/rotate", url.Values{"grace": {"169h"}}).status)
		before, err := s.Ledger.Now(t.Context())
		require.NoError(t, err)
		b.postJSON(path+"/rotate", map[string]string{"grace": "24h"}, &rotated)
		after, err := s.Ledger.Now(t.Context())
		require.NoError(t, err)
		require.NotEqual(t, made.New.Secret, rotated.New.Secret)
		require.False(t, rotated.New.Until.Before(before.Add(24*time.Hour)))
		require.False(t, rotated.New.Until.After(after.Add(24*time.Hour)))
		for secret, want := range map[string]ledger.Kind{made.New.Secret: ledger.WrongOrigin, rotated.New.Secret: ledger.WrongOrigin, book.NewSecret(): ledger.UnknownKey} {
			_, decision, err := s.Ledger.Begin(t.Context(), secret, "")
			require.NoError(t, err)
			require.Equal(t, want, decision.Kind, "both secrets are known")
		}
		require.Contains(t, b.get("/dashboard/keys").body, "two secrets")

		_, old, err := s.Ledger.CreateKey(t.Context(), s.account.ID, "old", book.KeyTerms{})
		require.NoError(t, err)
		_, _, err = s.Ledger.RotateKey(t.Context(), s.account.ID, old.ID, 24*time.Hour)
		require.NoError(t, err)
		require.NoError(t, s.Ledger.RevokeKey(t.Context(), s.account.ID, old.ID))
		require.NotContains(t, b.get("/dashboard/keys?search=old&revoked=on").body, "two secrets", "none is valid")
		require.NotContains(t, b.get(fmt.Sprintf("/dashboard/keys/%d", old.ID)).body, "Old secret")

		stranger := s.signedIn(t, s.createAccount(t, "other@example.com").ID)
		for _, suffix := range []string{"", "/rotate", "/revoke"} {
			require.Equal(t, http.StatusNotFound, stranger.get(path+suffix).status)
			r := stranger.request("POST", path+suffix, strings.NewReader(url.Values{"grace": {"1h"}, "name": {"mine"}, tokenField: {stranger.token("/dashboard")}}.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			require.Equal(t, http.StatusNotFound, stranger.do(r).status)
		}
	})
}

func TestPagesOfKeys(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", Config{})
	b := s.signedIn(t, s.account.ID)
	for i := range keysOnPage + 3 {
		_, _, err := s.Ledger.CreateKey(t.Context(), s.account.ID, "key "+strconv.Itoa(i), book.KeyTerms{})
		require.NoError(t, err)
	}
	var first, second, found keysView
	b.getJSON("/dashboard/keys", &first)
	require.Len(t, first.Keys, keysOnPage)
	require.Equal(t, "key 52", first.Keys[0].Name)
	b.getJSON("/dashboard/keys?after="+strconv.FormatInt(first.Next, 10), &second)
	require.Len(t, second.Keys, 3)
	require.Zero(t, second.Next)
	b.getJSON("/dashboard/keys?search=KEY+51", &found)
	require.Len(t, found.Keys, 1)
	require.Contains(t, b.get("/dashboard/keys?search=nothing").body, "No key has “nothing” in its name")
	require.Less(t, len(b.get("/dashboard/keys").body), 60<<10)
}
