package dashboard

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/dashboard/person"
	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/webhook"
)

func signUpForm(email string) url.Values {
	return url.Values{"email": {email}, "password": {password}, "again": {password}}
}

func TestSignUp(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, database string) {
		s := newSite(t, database, page.Config{SignUp: true})
		b := s.browser(t)
		require.Contains(t, b.get("/").body, `<a class="button" href="/sign-up">Create an account</a>`)
		require.Contains(t, b.get("/sign-up").body, "does not check that it is yours")
		for field, form := range map[string]url.Values{"email": {"email": {"no at sign"}, "password": {password}}, "password": {"email": {"new@example.com"}, "password": {"short"}},
			"again": {"email": {"new@example.com"}, "password": {password}, "again": {"another"}}} {
			for range 5 {
				require.Equal(t, http.StatusUnprocessableEntity, b.submit("/sign-up", form).status, "a slip in %s costs nothing", field)
			}
		}
		require.Equal(t, "/dashboard", b.submit("/sign-up", signUpForm("New@Example.com")).header.Get("Location"))
		view := read[person.SettingsView](b, "/dashboard/settings")
		require.Equal(t, "new@example.com", view.Email)
		a := must(s.Ledger.AccountByEmail(t.Context(), "new@example.com"))(t)
		require.Equal(t, "free", a.Plan)
		expect(t, http.StatusUnprocessableEntity, s.browser(t).submit("/sign-up", signUpForm("owner@example.com")),
			"There is an account with this email already.")
	})
}

// A mistyped provider is pointed out once. Who insists gets the account.
func TestSignUpSuggests(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{SignUp: true})
	b := s.browser(t)
	for range 5 {
		got := expect(t, http.StatusUnprocessableEntity, b.submit("/sign-up", signUpForm("Jane@GMIAL.com")), // at no cost
			`name="as_typed" value="jane@gmial.com"`)
		require.Contains(t, got.text(), "Did you mean jane@gmail.com ? Use this")
		require.NotContains(t, got.body, password)
	}
	_, err := s.Ledger.AccountByEmail(t.Context(), "jane@gmial.com")
	require.ErrorIs(t, err, book.ErrNoAccount)

	got := expect(t, http.StatusOK, b.submit("/sign-up", url.Values{"use": {"jane@gmail.com"}}),
		`value="jane@gmail.com"`)
	require.NotContains(t, got.body, `name="use"`)

	other := signUpForm("jane@gmial.com")
	other.Set("as_typed", "jane@hotmial.com")
	require.Equal(t, http.StatusUnprocessableEntity, b.submit("/sign-up", other).status, "another suggestion was seen")
	insists := signUpForm("Jane@gmial.com")
	insists.Set("as_typed", "jane@gmial.com")
	require.Equal(t, "/dashboard", b.submit("/sign-up", insists).header.Get("Location"))
	require.Equal(t, "/dashboard", s.browser(t).submit("/sign-up", signUpForm("jane@shop.example")).header.Get("Location"))
	r := s.browser(t).postJSON("/sign-up", map[string]string{"email": "program@gmial.com", "password": password}, new(any))
	require.Equal(t, http.StatusOK, r.status, "a program is not asked")
}

func TestSignUpIsClosed(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{})
	b := s.browser(t)
	require.Equal(t, http.StatusNotFound, b.get("/sign-up").status)
	r := b.request("POST", "/sign-up", nil)
	require.Equal(t, http.StatusNotFound, b.do(r).status)
	for _, path := range []string{"/", "/sign-in"} {
		require.NotContains(t, b.get(path).body, "/sign-up", path)
	}
}

// A stranger signs up with the owner's email and sets up every way in. The owner's first
// link ends all of them, and shows what goes on.
func TestFirstLinkEndsWhatAStrangerSetUp(t *testing.T) {
	eachNamedSite(t, page.Config{SignUp: true}, func(t *testing.T, s *site) {
		ctx, stranger, phone := t.Context(), s.browser(t), newDevice(s)
		require.Equal(t, "/dashboard", stranger.submit("/sign-up", signUpForm("victim@example.com")).header.Get("Location"))
		a := must(s.Ledger.AccountByEmail(ctx, "victim@example.com"))(t)
		require.Equal(t, "/dashboard/settings?done=passkey-added", stranger.ceremony("/dashboard/settings/passkeys", phone, "phone").Location)
		stranger.setUpTOTP()
		require.NoError(t, s.Identity.Link(ctx, identity.User{Account: a.ID}, "https://login.example", "stranger"))
		stranger.shown(stranger.submit("/dashboard/keys", url.Values{"name": {"the <stranger>'s"}}))
		stranger.shown(stranger.submit("/dashboard/keys", url.Values{"name": {"suite"}, "test": {"on"}}))
		stranger.shown(stranger.submit("/dashboard/settings/webhook", url.Values{"do": {"set"}, "url": {"https://stranger.example.com/hook"}}))
		stranger.submit("/dashboard/settings/name", url.Values{"name": {"Stranger"}})

		owner := s.browser(t)
		link := must(s.Identity.CreateLink(ctx, a.ID))(t)
		require.Contains(t, owner.get("/link/"+link).body, "it ends what was set up to sign in with before")
		require.Equal(t, provedPath, owner.submit("/link/"+link, url.Values{}).header.Get("Location"), "without the stranger's second factor")
		expect(t, http.StatusOK, owner.get(provedPath), "all that was set up to sign in with before has ended",
			"the &lt;stranger&gt;&#39;s", "https://stranger.example.com/hook",
			`<span class="tag test">test</span>, made on`)
		view := read[person.SettingsView](owner, "/dashboard/settings")
		require.Len(t, view.Sessions, 1)
		require.Equal(t, person.SettingsView{Email: "victim@example.com", Passkeys: []identity.Passkey{}, Identities: []identity.Linked{}, Sessions: view.Sessions}, view)

		require.Equal(t, "/sign-in?to=%2Fdashboard", stranger.get("/dashboard").header.Get("Location"))
		form := url.Values{"email": {"victim@example.com"}, "password": {password}}
		require.Equal(t, http.StatusUnprocessableEntity, stranger.submit("/sign-in", form).status)
		require.Equal(t, "REFUSED", stranger.ceremony("/sign-in/passkey", phone, "").Code)
		_, err := s.Identity.LinkedUser(ctx, "https://login.example", "stranger")
		require.ErrorIs(t, err, identity.ErrNoLinked)

		require.Equal(t, "/dashboard/settings/password?done=before-revoked", owner.submit(provedPath, url.Values{}).header.Get("Location"))
		keys := must(s.Ledger.ListKeys(ctx, a.ID, book.KeyPage{}))(t)
		require.Empty(t, keys)
		_, err = s.Webhooks.Get(ctx, a.ID)
		require.ErrorIs(t, err, webhook.ErrNone)
		require.Equal(t, "/dashboard?done=password-set", owner.submit("/dashboard/settings/password", url.Values{"password": {"another long password"}}).header.Get("Location"))
	})
}
