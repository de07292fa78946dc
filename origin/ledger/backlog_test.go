package ledger

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// A costlyStore takes a time for each row that a commit group writes: a group of more than
// most rows runs out of time. It does so at once.
type costlyStore struct {
	store.Store
	most, late *atomic.Int64 // late counts the groups that ran out of time
}

// costly makes a ledger use a costlyStore.
func costly(most int64) (s costlyStore, wrap Option) {
	s.most, s.late = new(atomic.Int64), new(atomic.Int64)
	s.most.Store(most)
	return s, WithStore(func(inner store.Store) store.Store { s.Store = inner; return s })
}

func (s costlyStore) Transact(ctx context.Context, t store.Transaction) error {
	if decide := t.Decide; t.Marked {
		t.Decide = func(now time.Time) ([]store.Statement, error) {
			list, err := decide(now)
			if int64(len(list)) > s.most.Load() {
				s.late.Add(1)
				return nil, fmt.Errorf("%d rows: %w", len(list), context.DeadlineExceeded)
			}
			return list, err
		}
	}
	return s.Store.Transact(ctx, t)
}

// addTallies adds tallies of n requests that were not charged, each with a row of its own.
func (f *fixture) addTallies(n int) {
	f.views.mu.Lock()
	defer f.views.mu.Unlock()
	for day := range n {
		f.views.addTally(usageKey{f.account, f.key.ID, book.Day(day)}, book.Tally{Requests: 1, Errors: 1})
	}
}

// A group that runs out of time is committed in halves, and each charge once. If a half runs
// out of time as well, the database counts as down until it commits again.
func TestSlowGroupIsHalved(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		s, wrap := costly(150)
		f := newFixture(t, url, unlimitedTerms, wrap)
		f.request(1)
		f.addTallies(200)
		require.Eventually(t, func() bool { return f.history().Requests == 201 }, hung, tickEvery)
		require.EqualValues(t, 1, s.late.Load())
		require.Nil(t, f.writer.down.Load())

		s.most.Store(90)
		f.addTallies(200)
		f.awaitDown()
		s.most.Store(1000)
		f.awaitReady()
		require.Equal(t, Good, f.request(1).Kind)
		f.requireHistory(book.Tally{Points: 2, Requests: 402, Errors: 400})
	})
}

// The charges of a group that is halved are made once, with their tokens.
func TestSlowChargesAreHalved(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		s, wrap := costly(65)
		f := newFixture(t, url, unlimitedTerms, wrap)
		all := make([]*fixture, 40)
		for n := range all {
			all[n] = f.otherAccount(fmt.Sprintf("other%d@example.com", n))
			require.NoError(t, f.ChangeTerms(f.ctx, all[n].account, book.Terms{Rate: limit(1_000_000), Points: limit(book.Unlimited)}))
		}
		rounds := int64(0)
		for ; s.late.Load() == 0; rounds++ {
			inParallel(len(all), func(n int) { require.Equal(f, Good, all[n].request(1).Kind) })
		}
		require.Equal(t, s.late.Load(), f.Stats().Failures)
		for _, a := range all {
			require.Equal(t, rounds, a.used())
			require.Equal(t, rounds, a.history().Points)
		}
	})
}

// A group that runs out of time on PostgreSQL is halved: at once if the server ends a statement,
// else once it is known that the group was not committed.
func TestPostgresSlowCommitIsHalved(t *testing.T) {
	for _, timeout := range []string{"", "&statement_timeout=900"} {
		f := newFixture(t, pgtest.NeedDatabase(t)+timeout, unlimitedTerms)
		f.request(1)
		f.exec(`CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF (SELECT count(*) FROM usage WHERE xmin = pg_current_xact_id()::xid) > 150 THEN PERFORM pg_sleep(600); END IF; RETURN NULL; END $$`)
		f.exec("CREATE TRIGGER hang AFTER INSERT ON usage FOR EACH STATEMENT EXECUTE FUNCTION hang()")
		f.addTallies(200)
		require.Eventually(t, func() bool { return f.history().Requests == 201 }, hung, tickEvery)
		require.Equal(t, Good, f.request(1).Kind)
		f.requireHistory(book.Tally{Points: 2, Requests: 202, Errors: 200})
	}
}
