package dashboard

import (
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

func signUpForm(email string) url.Values {
	return url.Values{"email": {email}, "password": {password}, "again": {password}}
}

func TestSignUp(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, database string) {
		s := newSite(t, database, Config{SignUp: true})
		b := s.browser(t)
		require.Contains(t, b.get("/sign-up").body, "does not check that it is yours")
		for field, form := range map[string]url.Values{"email": {"email": {"no at sign"}, "password": {password}}, "password": {"email": {"new@example.com"}, "password": {"short"}},
			"again": {"email": {"new@example.com"}, "password": {password}, "again": {"another"}}} {
			for range 5 {
				require.Equal(t, http.StatusUnprocessableEntity, b.submit("/sign-up", form).status, "a slip in %s costs nothing", field)
			}
		}
		require.Equal(t, "/dashboard", b.submit("/sign-up", signUpForm("New@Example.com")).header.Get("Location"))
		var view settingsView
		b.getJSON("/dashboard/settings", &view)
		require.Equal(t, "new@example.com", view.Email)
		a, err := s.Ledger.AccountByEmail(t.Context(), "new@example.com")
		require.NoError(t, err)
		require.Equal(t, "free", a.Plan)
		got := s.browser(t).submit("/sign-up", signUpForm("owner@example.com"))
		require.Equal(t, http.StatusUnprocessableEntity, got.status)
		require.Contains(t, got.body, "There is an account with this email already.")
	})
}

func TestSignUpIsClosed(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", Config{})
	b := s.browser(t)
	require.Equal(t, http.StatusNotFound, b.get("/sign-up").status)
	r := b.request("POST", "/sign-up", nil)
	require.Equal(t, http.StatusNotFound, b.do(r).status)
	require.NotContains(t, b.get("/sign-in").body, "/sign-up")
}

func TestSignUpsAreLimited(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, database string) {
		proxy := netip.MustParsePrefix("127.0.0.1/32")
		s := newSite(t, database, Config{SignUp: true, TrustedProxies: []netip.Prefix{proxy}})
		signUp := func(n int, from string) int {
			b := s.browser(t)
			form := signUpForm("new" + strconv.Itoa(n) + "@example.com")
			return b.submitFrom("/sign-up", form, from).status
		}
		for n := range 4 {
			want := http.StatusSeeOther
			if n == identity.SignUpsOfAddress.Burst {
				want = http.StatusTooManyRequests
			}
			require.Equal(t, want, signUp(n, "192.0.2.1"))
		}
		require.Equal(t, http.StatusSeeOther, signUp(4, "192.0.2.2"))
		for range identity.SignUpsOfDay.Burst {
			_ = s.Identity.Attempt(t.Context(), identity.SignUpsOfDay, "")
		}
		require.Equal(t, http.StatusTooManyRequests, signUp(5, "192.0.2.3"), "the day's")
	})
}
