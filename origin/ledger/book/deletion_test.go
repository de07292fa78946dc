package book

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

// A large account is deleted in transactions of bounded size.
func TestDeleteLargeAccount(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		const keys = 999 // and the fixture's own
		var counter storetest.Counter
		f := newFixture(t, url, unlimitedTerms, counter.Wrap)
		f.addKeys(keys, "NULL")
		f.exec("INSERT INTO secrets (hash, key) SELECT 'h' || id, id FROM keys")
		f.exec(`INSERT INTO usage (account, key, day, points, requests, errors)
			SELECT account, id, 20000, 1, 1, 0 FROM keys UNION ALL SELECT account, id, 20001, 1, 1, 0 FROM keys`)
		counter.Take()
		require.NoError(t, f.DeleteAccount(f.ctx, f.account))
		work := counter.Take()
		require.Equal(t, 2*(keys+1)/deleteRows+1, work.Statements["drop_usage"], "slices and an empty one")
		require.Equal(t, (keys+1)/deleteKeys+1, work.Statements["drop_keys"], "slices and an empty one")
		require.Empty(t, must(f.UsageHistory(f.ctx, 0, 0, 30000))(t))
		_, err := f.Account(f.ctx, f.account)
		require.ErrorIs(t, err, ErrNoAccount)
	})
}
