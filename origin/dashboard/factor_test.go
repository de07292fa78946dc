package dashboard

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	vw "github.com/descope/virtualwebauthn" // an authenticator in software, for tests
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/account"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/dashboard/person"
	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/rig/passkeytest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

const password = "correct horse battery"

func (s *site) withPassword(t *testing.T) {
	u := identity.User{Account: s.account.ID, Email: s.account.Email}
	require.NoError(t, s.Identity.SetPassword(t.Context(), u, password))
}

func (b *browser) signIn(to string) reply {
	return b.submit("/sign-in", url.Values{"email": {b.site.account.Email}, "password": {password}, "to": {to}})
}

// code returns the code of a secret some steps from now. Each is accepted once, so
// tests set up with the current one and go on with the next.
func code(t *testing.T, secret string, steps int) url.Values {
	text := must(totp.GenerateCode(secret, time.Now().Add(time.Duration(steps)*30*time.Second)))(t)
	return url.Values{"code": {text}}
}

func (b *browser) setUpTOTP() (secret string, recovery []string) {
	page := read[person.TOTPView](b, "/dashboard/settings/totp")
	form := code(b.T, page.Secret, 0)
	form.Set("secret", page.Secret)
	got := b.shown(b.submit("/dashboard/settings/totp", form))
	recovery = regexp.MustCompile(`[a-z2-7]{4}(-[a-z2-7]{4}){3}`).FindAllString(got.body, -1)
	require.Len(b, recovery, 10)
	return page.Secret, recovery
}

func TestTOTP(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		s.withPassword(t)
		owner := s.signedIn(t, s.account.ID)
		page := owner.get("/dashboard/settings/totp").body
		require.Contains(t, page, `<svg class="qr" viewBox="0 0 `)
		secret := regexp.MustCompile(`name="secret" value="([A-Z2-7]{32})"`).FindStringSubmatch(page)[1]
		got := expect(t, http.StatusUnprocessableEntity, owner.submit("/dashboard/settings/totp",
			url.Values{"secret": {secret}, "code": {"000000"}}))
		require.Contains(t, got.body, secret, "the app need not scan again")
		view := read[person.SettingsView](owner, "/dashboard/settings")
		require.False(t, view.TOTP)
		secret, recovery := owner.setUpTOTP()
		owner.getJSON("/dashboard/settings", &view)
		require.True(t, view.TOTP)
		require.Equal(t, 10, view.Recovery)
		require.NotContains(t, owner.get("/dashboard/settings").body+owner.get("/dashboard/settings/recovery-codes").body, recovery[0])

		b := s.browser(t)
		require.Equal(t, "/sign-in/code?to=%2Fdashboard%2Fkeys", b.signIn("/dashboard/keys").header.Get("Location"))
		before := b.cookieNamed(sessionCookie)
		require.Empty(t, b.cookieNamed(deviceCookie), "one factor makes no browser known")
		require.Equal(t, http.StatusUnprocessableEntity, b.submit("/sign-in/code", url.Values{"code": {"000000"}}).status)
		now := code(t, secret, 1)
		now.Set("to", "/dashboard/keys")
		require.Equal(t, "/dashboard/keys", b.submit("/sign-in/code", now).header.Get("Location"))
		require.NotEqual(t, before, b.cookieNamed(sessionCookie), "a new token")
		require.NotEmpty(t, b.cookieNamed(deviceCookie))
		require.Equal(t, http.StatusOK, b.get("/dashboard/keys").status)
		stolen := s.browser(t)
		stolen.setCookie(before)
		require.Equal(t, "/sign-in?to=%2Fdashboard%2Fkeys", stolen.get("/dashboard/keys").header.Get("Location"), "the token from before has ended")
		stolen.signIn("")
		require.Equal(t, "/dashboard", stolen.submit("/sign-in/code", url.Values{"code": {recovery[0]}}).header.Get("Location"))
		link := must(s.Identity.CreateLink(t.Context(), s.account.ID))(t)
		require.Equal(t, "/sign-in/code?to=%2Fdashboard%2Fsettings%2Fpassword",
			s.browser(t).submit("/link/"+link, url.Values{}).header.Get("Location"), "a link is one factor as well")
	})
}

// Each change of how the owner signs in needs a fresh proof.
func TestChangesNeedAFreshProof(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		s.withPassword(t)
		b := s.signedIn(t, s.account.ID)
		secret, _ := b.setUpTOTP()
		b.age()
		for _, path := range []string{"/dashboard/settings/totp", "/dashboard/settings/totp/remove", "/dashboard/settings/recovery-codes",
			"/dashboard/settings/passkeys", "/dashboard/settings/passkeys/x/remove", "/dashboard/settings/password", "/dashboard/settings/delete"} {
			b.needsProof(path)
		}
		for _, path := range []string{"/dashboard/settings/totp", "/dashboard/settings/passkeys", "/dashboard/settings/delete"} {
			require.Equal(t, "/confirm?to="+url.QueryEscape(path), b.get(path).header.Get("Location"), "before people fill in %s", path)
		}
		expect(t, http.StatusUnprocessableEntity, b.submit("/confirm", url.Values{"password": {"wrong"}}))
		form := code(t, secret, 1)
		form.Set("to", "/dashboard/settings/totp/remove")
		require.Equal(t, "/dashboard/settings/totp/remove?done=confirmed", b.submit("/confirm", form).header.Get("Location"))
		require.Equal(t, "/dashboard/settings?done=totp-removed", b.submit("/dashboard/settings/totp/remove", url.Values{}).header.Get("Location"))
		b.age()
		require.Equal(t, "/dashboard?done=confirmed", b.submit("/confirm", url.Values{"password": {password}}).header.Get("Location"))
	})
}

func (b *browser) needsProof(path string) {
	got := b.forge(path, b.token("/dashboard"), url.Values{"email": {b.site.account.Email}}, "", "")
	require.Equal(b, "/confirm?to="+url.QueryEscape(path), got.header.Get("Location"), path)
}

func newDevice(s *site) *passkeytest.Device {
	return passkeytest.NewDevice(vw.RelyingParty{ID: s.PublicURL.Hostname(), Origin: s.PublicURL.String()})
}

func respond(t *testing.T, d *passkeytest.Device, begun person.PasskeyView) map[string]string {
	result := d.Sign
	if strings.Contains(string(begun.Options), `"user":{`) {
		result = d.Create
	}
	return map[string]string{"state": begun.State, "credential": result(t, begun.Options)}
}

type jsonOutcome struct{ Location, Code, Error string }

func (b *browser) ceremony(path string, d *passkeytest.Device, name string) (done jsonOutcome) {
	var begun person.PasskeyView
	require.Equal(b, http.StatusOK, b.postJSON(path, map[string]string{}, &begun).status)
	fields := respond(b.T, d, begun)
	fields["name"] = name
	b.postJSON(path, fields, &done)
	return done
}

// eachNamedSite runs test with a site that has a host name, as passkeys need.
func eachNamedSite(t *testing.T, c page.Config, test func(*testing.T, *site)) {
	pgtest.EachDatabase(t, func(t *testing.T, database string) {
		c.PublicURL, _ = url.Parse("http://localhost:8080")
		test(t, newSite(t, database, c))
	})
}

func TestPasskeys(t *testing.T) {
	eachNamedSite(t, page.Config{}, func(t *testing.T, s *site) {
		owner, phone := s.signedIn(t, s.account.ID), newDevice(s)
		require.Equal(t, "/dashboard/settings?done=passkey-added", owner.ceremony("/dashboard/settings/passkeys", phone, "<b>phone</b>").Location)
		require.Contains(t, owner.get("/dashboard/settings").body, "&lt;b&gt;phone&lt;/b&gt;")
		owner.setUpTOTP()

		b := s.browser(t)
		require.Equal(t, "/dashboard", b.ceremony("/sign-in/passkey", phone, "").Location, "both factors at once")
		require.Equal(t, http.StatusOK, b.get("/dashboard/keys").status)
		b.age()
		require.Equal(t, "/dashboard?done=confirmed", b.ceremony("/confirm/passkey", phone, "").Location)
		require.Equal(t, http.StatusOK, b.get("/dashboard/settings/totp").status, "fresh again")

		s.withPassword(t)
		second := s.browser(t)
		second.signIn("")
		require.Contains(t, second.get("/sign-in/code").body, `action="/sign-in/passkey"`)
		require.Equal(t, "/dashboard", second.ceremony("/sign-in/passkey", phone, "").Location, "as second factor")
	})
}

func TestPasskeysOfOthers(t *testing.T) {
	eachNamedSite(t, page.Config{}, func(t *testing.T, s *site) {
		owner, phone := s.signedIn(t, s.account.ID), newDevice(s)
		owner.ceremony("/dashboard/settings/passkeys", phone, "phone")
		other, watch := s.signedIn(t, s.createAccount(t, "other@example.com").ID), newDevice(s)
		other.ceremony("/dashboard/settings/passkeys", watch, "watch")
		require.Equal(t, "REFUSED", owner.ceremony("/confirm/passkey", watch, "").Code, "another account's passkey confirms nothing")
		var begun person.PasskeyView
		var done jsonOutcome
		s.browser(t).postJSON("/sign-in/passkey", map[string]string{}, &begun)
		s.browser(t).postJSON("/sign-in/passkey", respond(t, phone, begun), &done)
		require.Contains(t, done.Error, "began in another browser")

		view := read[person.SettingsView](owner, "/dashboard/settings")
		remove := "/dashboard/settings/passkeys/" + view.Passkeys[0].ID + "/remove"
		require.Equal(t, http.StatusNotFound, other.get(remove).status)
		got := other.forge(remove, other.token("/dashboard"), url.Values{}, "", "")
		require.Equal(t, http.StatusNotFound, got.status, "another account's passkey")
		require.Equal(t, "/dashboard/settings?done=passkey-removed", owner.submit(remove, url.Values{}).header.Get("Location"))
		require.Equal(t, "REFUSED", s.browser(t).ceremony("/sign-in/passkey", phone, "").Code, "a passkey that was removed")
	})
}

// At an IP address there are no passkeys, and the pages say why.
func TestNoPasskeysAtAnAddress(t *testing.T) {
	s, b := ownSite(t)
	for _, path := range []string{"/dashboard/settings", "/dashboard/settings/passkeys", "/sign-in/passkey"} {
		require.Contains(t, b.get(path).body, "Passkeys need a host name", path)
	}
	require.Contains(t, b.get("/confirm").body, "Ask the operator for a new one-time link", "there is no factor")
	require.NotContains(t, s.browser(t).get("/sign-in").body, "Sign in with a passkey")
	var done jsonOutcome
	require.Equal(t, http.StatusUnprocessableEntity, b.postJSON("/sign-in/passkey", map[string]string{}, &done).status)
}

// A session ends on the next request of anybody who has its token. Another account ends none.
func TestStolenSessionAfterRevocation(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		owner, thief := s.signedIn(t, s.account.ID), s.browser(t)
		thief.setCookie(owner.cookieNamed(sessionCookie))
		view := read[person.SettingsView](thief, "/dashboard/settings")
		stranger, p := s.signedIn(t, s.createAccount(t, "other@example.com").ID), page.Problem{}
		fields := map[string]int64{"session": view.Sessions[0].ID}
		require.Equal(t, http.StatusNotFound, stranger.postJSON("/dashboard/settings/sessions", fields, &p).status)
		require.Equal(t, http.StatusOK, owner.get("/dashboard").status)
		s.signedIn(t, s.account.ID).submit("/dashboard/settings/sessions", url.Values{})
		require.Equal(t, http.StatusUnauthorized, thief.getJSON("/dashboard/settings", &p).status)
	})
}

func TestAuditLogIsPaged(t *testing.T) {
	eachOwner(t, func(t *testing.T, s *site, b *browser) {
		for n := range 60 {
			require.NoError(t, s.Identity.SetName(t.Context(), s.account.ID, fmt.Sprint("Ada ", n)))
		}
		page := read[account.AuditLogView](b, "/dashboard/settings/log")
		require.Len(t, page.Lines, auditLines)
		seen := len(page.Lines)
		for page.Next != 0 {
			next := account.AuditLogView{}
			b.getJSON("/dashboard/settings/log?before="+strconv.FormatInt(page.Next, 10), &next)
			require.False(t, next.Lines[0].At.After(page.Lines[len(page.Lines)-1].At))
			page = next
			seen += len(page.Lines)
		}
		require.GreaterOrEqual(t, seen, 62, "60 names, a link, a sign-in")
		require.Contains(t, b.get("/dashboard/settings/log?before=1").body, "no lines before this")
		require.Equal(t, http.StatusNotFound, b.get("/dashboard/settings/log?before=x").status)
	})
}

// Somebody who knows an email guesses as often as a network may, and the owner signs in
// all the same: from another network, and from the same one in a browser that the owner
// has used before.
func TestGuessingLocksNoOwnerOut(t *testing.T) {
	for name, at := range map[string]struct{ attacker, neighbour, elsewhere string }{
		"IPv4": {"192.0.2.1", "192.0.2.200", "198.51.100.7"},
		"IPv6": {"2001:db8:0:1::1", "2001:db8:0:ffff::2", "2001:db8:1:1::1"},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
				ledger.WithClock(func() time.Time { return now }))
			s.withPassword(t)
			tries := func(b *browser, address, password string) int {
				return b.submitFrom("/sign-in", url.Values{"email": {s.account.Email}, "password": {password}}, address).status
			}
			known := s.browser(t)
			require.Equal(t, http.StatusSeeOther, tries(known, at.neighbour, password))
			wrong := 0
			for attacker := s.browser(t); tries(attacker, at.attacker, "wrong") == http.StatusUnprocessableEntity; {
				wrong++
			}
			require.Equal(t, identity.Passwords.Network.Burst-1, wrong)
			require.Equal(t, http.StatusTooManyRequests, tries(s.browser(t), at.neighbour, password), "nobody knows this browser")
			require.Equal(t, http.StatusSeeOther, tries(s.browser(t), at.elsewhere, password))
			require.Equal(t, "/dashboard?done=password-set", known.submit("/dashboard/settings/password", url.Values{"password": {"another long password"}}).header.Get("Location"))
			known.submit("/sign-out", url.Values{})
			require.Equal(t, http.StatusSeeOther, tries(known, at.neighbour, "another long password"), "the browser that set it is known")
		})
	}
}

// Somebody who has the password and guesses codes does not keep the owner from giving one
// in the browser that has set the app up, however many browsers were known before.
func TestGuessingCodesLocksNoOwnerOut(t *testing.T) {
	eachDatabase(t, func(t *testing.T, s *site) {
		s.withPassword(t)
		thief := s.browser(t)
		thief.signIn("")
		require.NotEmpty(t, thief.cookieNamed(deviceCookie), "from before there is an app")
		owner := s.signedIn(t, s.account.ID)
		secret, recovery := owner.setUpTOTP()
		require.Equal(t, "/sign-in", thief.get("/dashboard").header.Get("Location")[:8], "the app ends other sessions")
		thief.signIn("")
		for range identity.Codes.Account.Burst {
			require.Equal(t, http.StatusUnprocessableEntity, thief.submit("/sign-in/code", url.Values{"code": {"000000"}}).status)
		}
		require.Equal(t, http.StatusTooManyRequests, thief.submit("/sign-in/code", url.Values{"code": {recovery[0]}}).status)
		owner.submit("/sign-out", url.Values{})
		owner.signIn("")
		require.Equal(t, "/dashboard", owner.submit("/sign-in/code", code(t, secret, 1)).header.Get("Location"))
		require.Equal(t, "/dashboard/settings?done=totp-removed", owner.submit("/dashboard/settings/totp/remove", url.Values{}).header.Get("Location"))
		user := must(s.Identity.User(t.Context(), s.account.ID))(t)
		require.Equal(t, user.DeviceToken(), owner.cookieNamed(deviceCookie), "known without the app as well")
	})
}
