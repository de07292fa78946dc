package dashboard

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/dashboard/page"
)

// A page for which the database fails at any step is 503, and never a part of a page.
func TestPagesNeedAllOfTheDatabase(t *testing.T) {
	s := newUsageSite(t, "sqlite:"+t.TempDir()+"/a.db")
	require.NoError(t, s.Identity.SetOperator(t.Context(), s.account.ID, true))
	s.use(t, s.account.ID, s.key(t, s.account.ID, "shop"), s.today, 5)
	_, err := s.Ledger.SetPolicy(t.Context(), s.account.ID, "strict", "{}")
	require.NoError(t, err)
	b, queries := s.signedIn(t, s.account.ID), 0
	for path, r := range s.routes() {
		path = strings.NewReplacer("{id}", "1", "{name}", "strict").Replace(path)
		if r.Access <= page.ByPublic || strings.Contains(path, "{") || path == "/dashboard/usage.csv" {
			continue
		}
		for failing := int64(1); ; failing++ {
			s.fails.Store(failing)
			got := b.getJSON(path, new(any))
			if s.fails.Swap(0) > 0 { // the page needs fewer queries
				require.NotEqual(t, http.StatusServiceUnavailable, got.status, path)
				break
			}
			queries++
			require.Equal(t, http.StatusServiceUnavailable, got.status, "%s: query %d: %s", path, failing, got.body)
			require.Contains(t, got.body, `"code":"UNAVAILABLE"`, path)
		}
	}
	require.Greater(t, queries, 50)
}
