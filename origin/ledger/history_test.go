package ledger

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// The history names accounts and keys, also a key that is revoked.
func TestUsageHistoryHasNames(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, book.Terms{Rate: limit(book.Unlimited), Points: limit(10)})
		secret, key := f.newKey("shop", book.KeyTerms{})
		require.Equal(t, Good, f.requestWith(secret, 3, nil).Kind)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, key.ID))
		for _, account := range []int64{0, f.account} {
			days := must(f.UsageHistory(f.ctx, account, 0, 1_000_000))(t)
			require.Len(t, days, 1)
			d := days[0]
			require.Equal(t, []any{f.account, "owner@example.com", key.ID, "shop", int64(3)}, []any{d.Account, d.Email, d.Key.ID, d.Key.Name, d.Points})
		}
	})
}

// A heldStore holds the connection of a report until release is closed.
type heldStore struct {
	store.Store
	held, release chan struct{}
}

func (s heldStore) Query(ctx context.Context, st store.Statement) error {
	if scan := st.Scan; st.Name == "sum_usage" {
		st.Scan = func(r store.Row) error {
			s.held <- struct{}{}
			<-s.release
			return scan(r)
		}
	}
	return s.Store.Query(ctx, st)
}

// However many people look at long reports, the keys of requests are read: reports
// run one at a time.
func TestReportsDoNotDelayKeys(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		held := heldStore{held: make(chan struct{}, 16), release: make(chan struct{})}
		f := newFixture(t, url, unlimitedTerms, WithStore(func(s store.Store) store.Store { held.Store = s; return held }))
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				must2(f.UsageSum(f.ctx, book.UsageQuery{Account: f.account, First: 101, Last: 103}))(f)
			})
		}
		<-held.held
		for range 20 { // each unknown, so each asks the database
			_, d := must2(f.Begin(f.ctx, book.NewSecret(), ""))(t)
			require.Equal(t, UnknownKey, d.Kind)
		}
		require.Empty(t, held.held, "a second report runs")
		close(held.release)
		all.Wait()
	})
}
