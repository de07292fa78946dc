package dashboard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/dashboard/person"
	"github.com/addrspec/addrspec/origin/identity/openid"
	"github.com/addrspec/addrspec/origin/rig/openidtest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// A company is a site with an OpenID provider at which ada is signed in.
type company struct {
	*site
	provider *openidtest.Provider
}

func eachCompany(t *testing.T, test func(*testing.T, *company)) {
	pgtest.EachDatabase(t, func(t *testing.T, database string) {
		provider := openidtest.New(t, "ada")
		provider.SignsIn("ada", time.Now())
		c := openid.Config{Issuer: provider.URL, ClientID: openidtest.ClientID, Secret: openidtest.Secret, Name: "Example Inc.", Redirect: "http://localhost" + person.OpenIDCallback}
		test(t, &company{newSite(t, database, page.Config{OpenID: openid.New(c)}), provider})
	})
}

// authorize visits the provider, and returns the path with which it sends people back.
func authorize(t *testing.T, location string) string {
	back := openidtest.Visit(t, location)
	require.Equal(t, person.OpenIDCallback, back.Path)
	return back.RequestURI()
}

func (b *browser) detour(path string) string {
	var view person.OpenIDView
	got := b.postJSON(path, map[string]string{}, &view)
	require.Equal(b, http.StatusOK, got.status, got.body)
	return authorize(b.T, view.Location)
}

func (c *company) linked(t *testing.T) *browser {
	b := c.signedIn(t, c.account.ID)
	require.Equal(t, "/dashboard/settings?done=identity-linked", b.get(b.detour("/dashboard/settings/identities")).header.Get("Location"))
	return b
}

func TestOpenIDSignsIn(t *testing.T) {
	eachCompany(t, func(t *testing.T, c *company) {
		b := c.browser(t)
		require.Contains(t, b.get("/sign-in").body, "Sign in with Example Inc.")
		back := authorize(t, b.get("/sign-in/openid?to=/dashboard/keys").header.Get("Location"))
		expect(t, http.StatusForbidden, b.get(back),
			"not linked to an account here. Sign in another way first, and link it in Settings.")

		owner := c.linked(t)
		_, request := c.provider.Asked()
		require.Equal(t, "login", request.Get("prompt"), "linking asks people to sign in at the provider")
		b = c.browser(t)
		back = authorize(t, b.get("/sign-in/openid?to=/dashboard/keys").header.Get("Location"))
		got := b.get(back)
		require.Equal(t, "/dashboard/keys", got.header.Get("Location"))
		require.Equal(t, http.StatusOK, b.get("/dashboard/keys").status)
		require.Equal(t, http.StatusUnprocessableEntity, b.get(back).status, "a second time")
		owner.setUpTOTP()
		require.Equal(t, "/sign-in/code?to=%2Fdashboard", c.browser(t).viaOpenID().header.Get("Location"), "one factor")

		view := read[person.SettingsView](owner, "/dashboard/settings")
		require.Equal(t, "ada", view.Identities[0].Subject)
		other := c.signedIn(t, c.createAccount(t, "other@example.com").ID)
		fields := map[string]string{"issuer": view.Identities[0].Issuer, "subject": "ada"}
		require.Equal(t, http.StatusNotFound, other.postJSON("/dashboard/settings/identities/remove", fields, new(any)).status, "another account's")
		got = other.get(other.detour("/dashboard/settings/identities"))
		require.Equal(t, http.StatusUnprocessableEntity, got.status, "linked elsewhere")
		require.Equal(t, http.StatusOK, owner.postJSON("/dashboard/settings/identities/remove", fields, new(any)).status)
		require.Equal(t, http.StatusForbidden, c.browser(t).viaOpenID().status)
	})
}

func (b *browser) viaOpenID() reply {
	return b.get(authorize(b.T, b.get("/sign-in/openid").header.Get("Location")))
}

func TestForgedCallbacks(t *testing.T) {
	eachCompany(t, func(t *testing.T, c *company) {
		c.linked(t)
		b, thief := c.browser(t), c.browser(t)
		thief.get("/sign-in")
		back := authorize(t, b.get("/sign-in/openid").header.Get("Location"))
		for name, path := range map[string]string{"no state": person.OpenIDCallback + "?code=x", "invented state": person.OpenIDCallback + "?code=x&state=x"} {
			require.Equal(t, http.StatusUnprocessableEntity, b.get(path).status, name)
		}
		require.Equal(t, http.StatusUnprocessableEntity, thief.get(back).status, "another browser")
		require.Equal(t, http.StatusForbidden, b.get(back+"&iss=https://evil.example").status, "RFC 9207: another issuer")
		require.Equal(t, http.StatusUnprocessableEntity, b.get(back).status, "the state is used up")

		state := must(url.Parse(authorize(t, b.get("/sign-in/openid").header.Get("Location"))))(t)
		require.Equal(t, http.StatusForbidden, b.get(person.OpenIDCallback+"?error=access_denied&state="+state.Query().Get("state")).status)
		c.provider.Forge(func(claims map[string]any) { claims["nonce"] = "another" })
		require.Equal(t, http.StatusForbidden, b.viaOpenID().status)
		c.provider.Forge(nil)
		require.Equal(t, http.StatusSeeOther, b.viaOpenID().status)
	})
}

// Linking needs a fresh session, a token, and that the provider has just asked. The page leads on by itself:
// form-action forbids a redirect after the POST.
func TestLinkingAnIdentity(t *testing.T) {
	eachCompany(t, func(t *testing.T, c *company) {
		b := c.signedIn(t, c.account.ID)
		got := b.forge("/dashboard/settings/identities", b.token("/dashboard"), url.Values{}, "", "")
		expect(t, http.StatusOK, got, "Continue to Example Inc.")
		require.Contains(t, got.header.Get("Refresh"), "0; url="+c.provider.URL+"/auth?")
		require.Contains(t, got.header.Get("Content-Security-Policy"), "form-action 'self'")
		c.provider.SignsIn("ada", time.Now().Add(-time.Hour))
		require.Equal(t, http.StatusForbidden, b.get(b.detour("/dashboard/settings/identities")).status, "signed in an hour ago")
		c.provider.SignsIn("ada", time.Time{})
		require.Equal(t, http.StatusForbidden, b.get(b.detour("/dashboard/settings/identities")).status, "the provider does not say when")
		c.provider.SignsIn("ada", time.Now())
		back := b.detour("/dashboard/settings/identities")
		require.NoError(t, c.Ledger.SuspendAccount(t.Context(), c.account.ID))
		expect(t, http.StatusForbidden, b.get(back), "The account is suspended")
		require.NoError(t, c.Ledger.ResumeAccount(t.Context(), c.account.ID))
		back = b.detour("/dashboard/settings/identities")
		b.age()
		b.needsProof("/dashboard/settings/identities")
		b.needsProof("/dashboard/settings/identities/remove")
		require.Contains(t, b.get(back).header.Get("Location"), "/confirm", "not fresh any more")
		got = b.submit("/confirm", url.Values{"password": {password}})
		require.Equal(t, http.StatusUnprocessableEntity, got.status, "there is no password")
		r := b.request("POST", "/dashboard/settings/identities", nil)
		require.Equal(t, http.StatusForbidden, b.do(r).status, "no token")
	})
}

func TestConfirmWithOpenID(t *testing.T) {
	eachCompany(t, func(t *testing.T, c *company) {
		b := c.linked(t)
		b.age()
		require.Contains(t, b.get("/confirm").body, "Confirm with Example Inc.")
		require.Equal(t, "/dashboard?done=confirmed", b.get(b.detour("/confirm/openid")).header.Get("Location"))
		require.Equal(t, http.StatusOK, b.get("/dashboard/settings/totp").status)
		c.provider.SignsIn("eve", time.Now())
		require.Equal(t, http.StatusForbidden, b.get(b.detour("/confirm/openid")).status, "somebody else")
		eve := c.signedIn(t, c.createAccount(t, "eve@example.com").ID)
		require.Equal(t, http.StatusSeeOther, eve.get(eve.detour("/dashboard/settings/identities")).status)
		require.Equal(t, http.StatusForbidden, b.get(b.detour("/confirm/openid")).status, "somebody with another account")
	})
}

// Sign-ins that wait for the provider hold no place of the pages, and those of one
// network leave places to others.
func TestWaitingForTheProviderHoldsNoSlot(t *testing.T) {
	eachCompany(t, func(t *testing.T, c *company) {
		b, asked := c.browser(t), make(chan struct{})
		hang, release := context.WithCancel(t.Context())
		defer release()
		back := authorize(t, b.get("/sign-in/openid").header.Get("Location"))
		c.provider.Forge(func(map[string]any) {
			close(asked)
			<-hang.Done()
		})
		response := make(chan int)
		go func() { response <- b.get(back).status }()
		<-asked
		require.Zero(t, c.Limits.Pages.Used())
		release()
		<-response

		require.NoError(t, c.Limits.Long.Take(t.Context(), "sign-ins of 127.0.0.0/24", maxLongEach))
		require.Equal(t, http.StatusTooManyRequests, b.get("/sign-in/openid").status)
		require.Equal(t, http.StatusTooManyRequests, b.get(back).status)
		require.NoError(t, c.Limits.Long.Take(t.Context(), "sign-ins of 192.0.2.0/24", 1))
	})
}

// The same holds for a provider that does not respond to the first sign-in.
func TestSilentProviderHoldsNoSlot(t *testing.T) {
	asked, status := make(chan struct{}), make(chan int)
	hang, release := context.WithCancel(t.Context())
	provider := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-hang.Done()
	}))
	defer provider.Close()
	defer release()
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{OpenID: openid.New(openid.Config{Issuer: provider.URL, ClientID: "x", Name: "Example Inc."})})
	go func() { status <- s.browser(t).get("/sign-in/openid").status }()
	<-asked
	require.Zero(t, s.Limits.Pages.Used())
	require.Equal(t, http.StatusOK, s.browser(t).get("/sign-in").status)
	release()
	require.Equal(t, http.StatusServiceUnavailable, <-status)
}
