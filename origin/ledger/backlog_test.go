package ledger

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// costly makes commit groups that write more than most rows run out of time, which they do at once.
// late counts them.
func costly(rows int64) (most, late *atomic.Int64, wrap Option) {
	most, late = new(atomic.Int64), new(atomic.Int64)
	most.Store(rows)
	return most, late, refusing(func(marked bool, list []store.Statement) error {
		if !marked || int64(len(list)) <= most.Load() {
			return nil
		}
		late.Add(1)
		return fmt.Errorf("%d rows: %w", len(list), context.DeadlineExceeded)
	})
}

// endMany returns a function that ends requests of n other keys without a charge, so that each
// needs a row of the history. The function returns how many were admitted.
func (f *fixture) endMany(n int) (end func() (admitted int64)) {
	secrets := make([]string, n)
	for i := range secrets {
		secrets[i], _ = f.newKey("one of many", book.KeyTerms{})
	}
	return func() (admitted int64) {
		for _, secret := range secrets {
			if _, err := f.tryRequest(f.ctx, secret, 0, nil); err == nil {
				admitted++
			}
		}
		return admitted
	}
}

// A group that runs out of time is committed in halves, and each charge once. If a half runs
// out of time as well, the database counts as down until it commits again.
func TestSlowGroupIsHalved(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		most, late, wrap := costly(15)
		f := newFixture(t, url, unlimitedTerms, wrap)
		end := f.endMany(20)
		requests := int64(0)
		for late.Load() == 0 {
			requests += end()
			require.Eventually(t, func() bool { return f.history().Requests == requests }, hung, tick)
		}
		require.EqualValues(t, 1, late.Load())
		require.NoError(t, f.writer.Failing())

		most.Store(5)
		for f.writer.Failing() == nil {
			requests += end()
		}
		most.Store(1000)
		f.awaitReady()
		require.Equal(t, Good, f.request(1).Kind)
		f.requireHistory(book.Tally{Points: 1, Requests: requests + 1, Errors: requests})
	})
}

// A group that runs out of time on PostgreSQL is halved: at once if the server ends a statement,
// else once it is known that the group was not committed.
func TestPostgresSlowCommitIsHalved(t *testing.T) {
	for _, timeout := range []string{"", "&statement_timeout=900"} {
		f := newFixture(t, pgtest.NeedDatabase(t)+timeout, unlimitedTerms)
		f.request(1)
		f.exec(`CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF (SELECT count(*) FROM usage WHERE xmin = pg_current_xact_id()::xid) > 15 THEN PERFORM pg_sleep(600); END IF; RETURN NULL; END $$`)
		f.exec("CREATE TRIGGER hang AFTER INSERT ON usage FOR EACH STATEMENT EXECUTE FUNCTION hang()")
		end := f.endMany(20)
		requests := int64(1)
		for f.Stats().Failures == 0 {
			requests += end()
			require.Eventually(t, func() bool { return f.history().Requests == requests }, hung, tick)
		}
		require.Equal(t, Good, f.request(1).Kind)
		f.requireHistory(book.Tally{Points: 2, Requests: requests + 1, Errors: requests - 1})
	}
}
