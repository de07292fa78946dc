package dashboard

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

func TestFirstSignIn(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		token := must(s.Identity.CreateLink(t.Context(), s.account.ID))(t)
		b := s.browser(t)
		require.Contains(t, b.get("/link/"+token).body, "owner@example.com")
		got := expect(t, http.StatusSeeOther, b.submit("/link/"+token, url.Values{}))
		require.Equal(t, "/dashboard/settings/password", got.header.Get("Location"))

		expect(t, http.StatusUnprocessableEntity, b.submit("/dashboard/settings/password",
			url.Values{"password": {"correct horse battery"}, "again": {"correct horse batter"}}),
			"The two passwords differ.")
		got = b.submit("/dashboard/settings/password", url.Values{"password": {"correct horse battery"}, "again": {"correct horse battery"}})
		require.Equal(t, "/dashboard?done=password-set", got.header.Get("Location"))

		again := s.browser(t)
		expect(t, http.StatusUnprocessableEntity, again.submit("/sign-in", url.Values{"email": {"Owner@example.com"},
			"password": {"correct horse"}}), "The email or the password is wrong.")
		got = again.submit("/sign-in", url.Values{"email": {"Owner@example.com"}, "password": {"correct horse battery"}, "to": {"/dashboard/keys"}})
		require.Equal(t, "/dashboard/keys", got.header.Get("Location"))
		require.Equal(t, http.StatusOK, again.get("/dashboard/keys").status)
		require.Contains(t, again.get("/link/"+token).body, "used already")
	})
}

// A browser without a session is led to the sign-in and back; a program gets
// the reason in JSON.
func TestPagesNeedASession(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{})
	for path, route := range s.routes() {
		if route.Access <= page.ByPublic {
			continue
		}
		path = strings.ReplaceAll(path, "{id}", "1")
		got := s.browser(t).get(path)
		require.Equal(t, http.StatusSeeOther, got.status, path)
		require.Equal(t, "/sign-in?to="+url.QueryEscape(path), got.header.Get("Location"))
		expect(t, http.StatusUnauthorized, s.browser(t).getJSON(path, new(any)), `"code":"SIGN_IN"`)
	}
}

// Every POST needs the token of a page of this session, and a browser that does
// not say that it comes from elsewhere.
func TestForgedPosts(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{})
	b := s.operator(t)
	other := s.signedIn(t, s.createAccount(t, "other@example.com").ID)
	tokens := map[string]string{"none": "", "of a stranger": s.browser(t).token("/sign-in"), "of another session": other.token("/dashboard")}
	for path, route := range s.routes() {
		if route.Post == nil || path == "/link/{token}" {
			continue
		}
		path = strings.ReplaceAll(path, "{id}", "1")
		for whose, token := range tokens {
			require.Equal(t, http.StatusForbidden, b.forge(path, token, url.Values{}, "", "").status, "%s with the token %s", path, whose)
		}
		for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			got := b.forge(path, b.token("/dashboard"), url.Values{}, header, value)
			require.Equal(t, http.StatusForbidden, got.status, "%s with %s", path, header)
		}
	}
	require.Equal(t, http.StatusOK, b.get("/dashboard").status, "still signed in")
}

// A browser that keeps no cookie gets a page that says so: to load the page again would not help.
func TestBrowserWithoutCookies(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{})
	b := s.browser(t)
	b.client.Jar = nil
	expect(t, http.StatusForbidden, b.submit("/sign-in", url.Values{"email": {"owner@example.com"},
		"password": {"x"}}), "Allow cookies for this site")
	b = s.browser(t)
	b.token("/sign-in")
	require.Contains(t, b.forge("/sign-in", "x", url.Values{}, "", "").body, "Load the page again")
}

// Who is signed in has no use for the pages of those who are not.
func TestSignedInAlready(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{SignUp: true})
	b := s.signedIn(t, s.account.ID)
	for path, want := range map[string]string{"/sign-in": "/dashboard", "/sign-in?to=/dashboard/keys": "/dashboard/keys", "/sign-in?to=//evil.example": "/dashboard", "/sign-up": "/dashboard"} {
		got := b.get(path)
		require.Equal(t, http.StatusSeeOther, got.status, path)
		require.Equal(t, want, got.header.Get("Location"))
	}
	got := b.forge("/sign-in", b.token("/dashboard"), url.Values{"email": {"other@example.com"}, "password": {"wrong"}}, "", "")
	expect(t, http.StatusUnprocessableEntity, got, "The email or the password is wrong.") // a form of another tab
}

// Every page forbids inline scripts and follows its own rule, is light, and has at most one primary action;
// Lists shows a step at a time.
func TestEveryPage(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{SignUp: true})
	o := s.operator(t)
	k := s.key(t, s.account.ID+1, "shop")
	for _, path := range append(s.publicPages(), slices.Collect(maps.Keys(s.routes()))...) {
		path = strings.NewReplacer("{$}", "", "{id}", strconv.FormatInt(k, 10)).Replace(path)
		if strings.Contains(path, "{") {
			continue
		}
		got := o.get(path)
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
		require.LessOrEqual(t, weight(s, got.body), maxReceived, path)
		if path != "/dashboard/lists" {
			require.LessOrEqual(t, len(primaryActions(got.body)), 1, "%s: %q", path, primaryActions(got.body))
		}
	}
	const webhook = "/dashboard/settings/webhook"
	require.Equal(t, []string{"Set"}, primaryActions(o.get(webhook).body))
	o.submit(webhook, url.Values{"do": {"set"}, "url": {"https://hooks.example.com/"}})
	require.Equal(t, []string{"Send a test message"}, primaryActions(o.get(webhook).body))
}

func TestAttemptsToSignIn(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		b := s.browser(t)
		form := url.Values{"email": {"owner@example.com"}, "password": {"wrong"}}
		for range 10 {
			require.Equal(t, http.StatusUnprocessableEntity, b.submit("/sign-in", form).status)
		}
		expect(t, http.StatusTooManyRequests, b.submit("/sign-in", form), "too many attempts")
	})
}

func TestDeleteAccount(t *testing.T) {
	eachNamedSite(t, page.Config{}, func(t *testing.T, s *site) {
		b, phone := s.signedIn(t, s.account.ID), newDevice(s)
		b.ceremony("/dashboard/settings/passkeys", phone, "phone")
		b.setUpTOTP()
		b.submit("/dashboard/keys", url.Values{"name": {"shop"}})
		expect(t, http.StatusUnprocessableEntity, b.submit("/dashboard/settings/delete",
			url.Values{"email": {"other@example.com"}}), "This is not the email of the account.")
		b.age()
		require.Equal(t, "/confirm?to=%2Fdashboard%2Fsettings%2Fdelete", b.get("/dashboard/settings/delete").header.Get("Location"), "needs a fresh proof")
		require.Equal(t, "/dashboard?done=confirmed", b.ceremony("/confirm/passkey", phone, "").Location)
		got := b.submit("/dashboard/settings/delete", url.Values{"email": {" Owner@example.com"}})
		require.Equal(t, "/sign-in?done=account-deleted", got.header.Get("Location"))
		_, err := s.Ledger.AccountByEmail(t.Context(), "owner@example.com")
		require.ErrorIs(t, err, book.ErrNoAccount)
		require.Equal(t, "REFUSED", s.browser(t).ceremony("/sign-in/passkey", phone, "").Code)
		require.Equal(t, http.StatusSeeOther, b.get("/dashboard").status)
	})
}

// post sends a form to a path with the token of the Overview, as a program does.
func (b *browser) post(path string, fields string) (reply, string) {
	var p page.Problem
	got := b.postFrom("/dashboard", path, json.RawMessage(fields), &p)
	return got, p.Code
}

// While an account is suspended, its owner can read all pages and send the forms that
// protect a person. No other one changes or uses anything, also for an operator, and the
// email is not free for another account.
func TestSuspendedAccountChangesNothing(t *testing.T) {
	eachNamedSite(t, page.Config{SignUp: true}, func(t *testing.T, s *site) {
		require.NoError(t, s.Identity.SetOperator(t.Context(), s.account.ID, true))
		k := s.key(t, s.account.ID, "shop")
		b := s.signedIn(t, s.account.ID)
		fill := strings.NewReplacer("{id}", strconv.FormatInt(k, 10), "{credential}", "x")
		audit := func() int {
			log := must(s.Ledger.AuditLog(t.Context(), s.account.ID, 0, 1000))(t)
			return len(log)
		}
		require.NoError(t, s.Ledger.SuspendAccount(t.Context(), s.account.ID))
		require.Contains(t, b.get("/dashboard").body, "The account is suspended")
		before := audit()
		refused := 0
		for path, r := range s.routes() {
			if r.Access == page.ByPublic || r.Access == page.ByAll || r.Post == nil || remaining[path] {
				continue
			}
			got, code := b.post(fill.Replace(path), `{"name": "late", "url": "https://example.com", "do": "set", "email": "owner@example.com", "grace": "0s"}`)
			if r.Access == page.ByOperator {
				require.Equal(t, http.StatusNotFound, got.status, path)
				continue
			}
			require.Equal(t, http.StatusForbidden, got.status, "%s: %s", path, got.body)
			require.Equal(t, "SUSPENDED", code, path)
			refused++
		}
		require.Greater(t, refused, 6)
		require.Equal(t, before, audit(), "nothing was changed")
		for path := range remaining {
			if s.routes()[path].Post != nil {
				_, code := b.post(fill.Replace(path), `{"password": "correct horse battery staple"}`)
				require.NotEqual(t, "SUSPENDED", code, path)
			}
		}
		revoked := must(s.Ledger.Key(t.Context(), s.account.ID, k))(t)
		require.False(t, revoked.Revoked.IsZero(), "a leaked key can be revoked")

		for _, path := range []string{"/dashboard/keys", "/dashboard/usage", "/dashboard/settings", "/dashboard/settings/log", "/dashboard/settings/webhook", policiesPath} {
			require.Equal(t, http.StatusOK, b.get(path).status, path)
		}
		require.Equal(t, http.StatusNotFound, b.get("/dashboard/operator").status)
		got := s.browser(t).submit("/sign-up", url.Values{"email": {"Owner@Example.com"}, "password": {"correct horse battery staple"}})
		require.Contains(t, got.body, "There is an account with this email already.")
		require.Equal(t, http.StatusSeeOther, b.submit("/sign-out", url.Values{}).status)
		got = s.browser(t).submit("/sign-in", url.Values{"email": {"owner@example.com"}, "password": {"correct horse battery staple"}})
		require.Equal(t, http.StatusSeeOther, got.status, "the new password signs in")
	})
}
