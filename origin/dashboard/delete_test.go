package dashboard

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

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
			log, err := s.Ledger.AuditLog(t.Context(), s.account.ID, 0, 1000)
			require.NoError(t, err)
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
		revoked, err := s.Ledger.Key(t.Context(), s.account.ID, k)
		require.NoError(t, err)
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
