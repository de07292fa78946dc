package dashboard

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
)

func TestDeleteAccount(t *testing.T) {
	eachNamedSite(t, Config{}, func(t *testing.T, s *site) {
		b, phone := s.signedIn(t, s.account.ID), newDevice(s)
		b.ceremony("/dashboard/settings/passkeys", phone, "phone")
		b.setUpTOTP()
		b.submit("/dashboard/keys", url.Values{"name": {"shop"}})
		got := b.submit("/dashboard/settings/delete", url.Values{"email": {"other@example.com"}})
		require.Equal(t, http.StatusUnprocessableEntity, got.status)
		require.Contains(t, got.body, "This is not the email of the account.")
		b.age()
		require.Equal(t, "/confirm?to=%2Fdashboard%2Fsettings%2Fdelete", b.get("/dashboard/settings/delete").header.Get("Location"), "needs a fresh proof")
		require.Equal(t, "/dashboard?done=confirmed", b.ceremony("/confirm/passkey", phone, "").Location)
		got = b.submit("/dashboard/settings/delete", url.Values{"email": {" Owner@example.com"}})
		require.Equal(t, "/sign-in?done=account-deleted", got.header.Get("Location"))
		_, err := s.Ledger.AccountByEmail(t.Context(), "owner@example.com")
		require.ErrorIs(t, err, ledger.ErrNoAccount)
		require.Equal(t, "REFUSED", s.browser(t).ceremony("/sign-in/passkey", phone, "").Code)
		require.Equal(t, http.StatusSeeOther, b.get("/dashboard").status)
	})
}
