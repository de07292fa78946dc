package dashboard

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

// A browser without a session, or without its second factor, is led to what is missing and back, with a form too; a
// program gets the reason in JSON. To others the pages of operators do not exist.
func TestWhoMayVisit(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{})
	s.withPassword(t)
	owner, operator, incomplete := s.signedIn(t, s.account.ID), s.operator(t), s.browser(t)
	owner.setUpTOTP()
	incomplete.signIn("")
	for path, route := range s.routes() {
		path = strings.ReplaceAll(path, "{id}", "1")
		for _, c := range []struct {
			who      *browser
			code, to string
		}{{s.browser(t), "SIGN_IN", "/sign-in"}, {incomplete, "SECOND_FACTOR", "/sign-in/code"}} {
			if route.Access <= page.Public || path == c.to {
				continue
			}
			got := c.who.get(path)
			require.Equal(t, http.StatusSeeOther, got.status, path)
			require.Equal(t, c.to+"?to="+url.QueryEscape(path), got.header.Get("Location"))
			expect(t, http.StatusUnauthorized, c.who.getJSON(path, new(any)), `"code":"`+c.code+`"`)
			if route.Post != nil {
				got := c.who.forge(path, c.who.token("/docs"), url.Values{}, "", "")
				require.True(t, strings.HasPrefix(got.header.Get("Location"), c.to+"?to="), path)
			}
		}
		if route.Access == page.Operator {
			require.Equal(t, http.StatusNotFound, owner.get(path).status, path)
			require.Equal(t, http.StatusOK, operator.get(path).status, path)
			got, _ := owner.post(path, `{"do": "suspend", "email": "x@example.com"}`)
			require.Contains(t, []int{http.StatusNotFound, http.StatusMethodNotAllowed}, got.status, path)
		}
	}
	require.NotContains(t, owner.get("/dashboard").body, "/dashboard/operator")
	require.NotContains(t, incomplete.get("/sign-in/code").body, "/dashboard/keys", "no navigation")
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
// Lists shows a step at a time. The header names who is signed in. Dates have one form, and a machine can read each.
func TestEveryPage(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{SignUp: true})
	o := s.operator(t)
	operator := must(s.Ledger.AccountByEmail(t.Context(), "operator@example.com"))(t)
	_, k, err := s.Ledger.CreateKey(t.Context(), operator.ID, "shop", book.KeyTerms{Expires: time.Now().AddDate(1, 0, 0)})
	require.NoError(t, err)
	s.use(t, operator.ID, k.ID, s.today, 7)
	_, _, err = s.Ledger.RotateKey(t.Context(), operator.ID, k.ID, time.Hour)
	require.NoError(t, err)
	marked := regexp.MustCompile(`<time datetime="20\d\d-\d\d-\d\d(?:T[\d:]+Z)?">\d+ [A-Z][a-z]{2} 20\d\d(?:, \d\d:\d\d UTC)?</time>`)
	noElement := regexp.MustCompile(`<title>.*?</title>|aria-label="[^"]*"`) // where a date is text
	dates := 0
	for _, path := range append(s.publicPages(), slices.Collect(maps.Keys(s.routes()))...) {
		path = strings.NewReplacer("{$}", "", "accounts/{id}", fmt.Sprintf("accounts/%d", operator.ID),
			"{id}", strconv.FormatInt(k.ID, 10)).Replace(path)
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
		if strings.HasPrefix(path, "/docs") || path == "/dashboard/usage.csv" {
			continue
		}
		dates += len(marked.FindAllString(got.body, -1))
		require.NotRegexp(t, `\d{4}-\d\d-\d\d`, got.text(), path)
		require.NotRegexp(t, `\d [A-Z][a-z]{2} 20\d\d`, reply{body: noElement.ReplaceAllString(marked.ReplaceAllString(got.body, ""), "")}.text(), path)
	}
	require.Greater(t, dates, 20)
	require.NoError(t, s.Identity.SetName(t.Context(), operator.ID, "<b>Ada</b>"))
	for _, path := range []string{"/docs", "/dashboard/nothing"} {
		require.Contains(t, o.get(path).text(), "Signed in as <b>Ada</b> ", path)
	}
	const webhook = "/dashboard/settings/webhook"
	require.Equal(t, []string{"Set"}, primaryActions(o.get(webhook).body))
	o.submit(webhook, url.Values{"do": {"set"}, "url": {"https://hooks.example.com/"}})
	require.Equal(t, []string{"Send a test message"}, primaryActions(o.get(webhook).body))
}

// Each form with which strangers guess, or make rows, counts the attempts of an address, or of its network, and
// those of all together. Another form is not refused for it.
func TestAttemptsAreCounted(t *testing.T) {
	now, named := time.Now(), &url.URL{Scheme: "http", Host: "localhost"}
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{SignUp: true, PublicURL: named,
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}, ledger.WithClock(func() time.Time { return now }))
	s.withPassword(t)
	for path, c := range map[string]struct {
		kind   identity.Kind
		many   int // attempts of an address
		status int // of each
	}{
		"/sign-in":         {identity.Passwords, identity.Passwords.Network.Burst, http.StatusUnprocessableEntity},
		"/sign-in/passkey": {identity.Challenges, identity.Challenges.Address.Burst, http.StatusOK},
		"/sign-up":         {identity.SignUps, identity.SignUps.Address.Burst, http.StatusSeeOther},
	} {
		n := 0
		attempt := func(from string) reply {
			n++
			b, email := s.browser(t), "owner@example.com"
			if path == "/sign-up" {
				email = strconv.Itoa(n) + "@example.com"
			}
			form := url.Values{"email": {email}, "password": {"a wrong password"}}
			return b.forge(path, b.token("/docs"), form, "X-Forwarded-For", from)
		}
		for range c.many {
			require.Equal(t, c.status, attempt("192.0.2.1").status, path)
		}
		expect(t, http.StatusTooManyRequests, attempt("192.0.2.1"), "There were too many attempts.")
		require.Equal(t, c.status, attempt("198.51.100.1").status, path)
		if c.kind.All.Burst == 0 {
			continue
		}
		for n := range c.kind.All.Burst {
			_ = s.Identity.Attempt(t.Context(), c.kind, identity.Caller{Address: strconv.Itoa(n), Network: strconv.Itoa(n)})
		}
		require.Equal(t, http.StatusTooManyRequests, attempt("203.0.113.1").status, path)
		require.Equal(t, http.StatusSeeOther, s.browser(t).signIn("").status, "a password still signs in")
	}
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
			if r.Access == page.Public || r.Access == page.Offline || r.Post == nil || remaining[path] {
				continue
			}
			got, code := b.post(fill.Replace(path), `{"name": "late", "url": "https://example.com", "do": "set", "email": "owner@example.com", "grace": "0s"}`)
			if r.Access == page.Operator {
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
