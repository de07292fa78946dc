package ledger

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// The history names accounts and keys, also a key that is revoked.
func TestUsageHistoryHasNames(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, Terms{Rate: limit(Unlimited), Points: limit(10)})
		secret, key, err := f.CreateKey(f.ctx, f.account, "shop", KeyTerms{})
		require.NoError(t, err)
		require.Equal(t, Good, f.requestWith(secret, 3, nil).Verdict)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, key.ID))
		for _, account := range []int64{0, f.account} {
			days, err := f.UsageHistory(f.ctx, account, 0, 1_000_000)
			require.NoError(t, err)
			require.Len(t, days, 1)
			d := days[0]
			require.Equal(t, []any{f.account, "owner@example.com", key.ID, "shop", int64(3)}, []any{d.Account, d.Email, d.Key, d.KeyName, d.Points})
		}
	})
}
