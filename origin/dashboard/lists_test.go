package dashboard

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/account"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

func TestUsageOnLists(t *testing.T) {
	s := newSite(t, "sqlite:"+t.TempDir()+"/a.db", page.Config{})
	a, err := s.Ledger.CreateAccount(t.Context(), "limited@example.com", book.Terms{Plan: "free"})
	require.NoError(t, err)
	var view account.ListsView
	require.Equal(t, http.StatusOK, s.signedIn(t, a.ID).getJSON("/dashboard/lists", &view).status)
	require.Equal(t, int64(1000), *view.Points.Left)
	require.Equal(t, int64(1), *view.Points.Rate)
	require.False(t, view.Points.Overage)
	require.True(t, view.Points.Refill.After(time.Now()))

	a, err = s.Ledger.CreateAccount(t.Context(), "unlimited@example.com", book.Terms{Plan: "enterprise"})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, s.signedIn(t, a.ID).getJSON("/dashboard/lists", &view).status)
	require.Nil(t, view.Points.Limit)
	require.Nil(t, view.Points.Left)
	require.Nil(t, view.Points.Rate)
}
