package ledger

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

func TestKeys(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		second, k2, err := f.CreateKey(f.ctx, f.account, "second", book.KeyTerms{})
		require.NoError(t, err)
		require.Equal(t, second[:8], k2.Hint)
		f.request(1)

		f.clock.advance(time.Hour)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, k2.ID))
		revoked := f.clock.Now()
		f.clock.advance(time.Hour)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, k2.ID), "revoking again changes nothing")
		require.ErrorIs(t, f.RevokeKey(f.ctx, f.account, 4711), book.ErrNoKey)
		require.ErrorIs(t, f.RevokeKey(f.ctx, f.account+1, f.key.ID), book.ErrNoKey, "a key of another account")

		f.key.LastDay, k2.Revoked = book.DayOf(f.clock.Now()), revoked
		keys, err := f.ListKeys(f.ctx, f.account, book.KeyPage{Revoked: true})
		require.NoError(t, err)
		require.Equal(t, []book.Key{k2, f.key}, keys, "newest first")
		keys, err = f.ListKeys(f.ctx, f.account, book.KeyPage{})
		require.NoError(t, err)
		require.Equal(t, []book.Key{f.key}, keys, "without the revoked one")

		for _, name := range []string{"", "a\x00b", strings.Repeat("n", 65)} {
			_, _, err = f.CreateKey(f.ctx, f.account, name, book.KeyTerms{})
			require.ErrorContains(t, err, "the name of a key", "%q", name)
		}
	})
}

// A suspension by another replica refuses the next request and the charge of one
// in progress. After it the keys are good again.
func TestSuspendAndResume(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f, list := newReplicas(t, url, unlimitedTerms, 2)
		other := list[1]
		require.Equal(t, Good, f.retryable(1, 1).Kind)
		under := f.mustBegin()
		require.NoError(t, other.SuspendAccount(f.ctx, f.account))
		suspended := f.clock.Now()
		require.Equal(t, UnknownKey, f.retryable(1, 1).Kind, "a replay")
		require.Equal(t, UnknownKey, f.request(1).Kind)
		require.Equal(t, UnknownKey, f.finish(under, 1).Kind)
		f.clock.advance(maxRefuse + 1)
		require.NoError(t, other.SuspendAccount(f.ctx, f.account), "again")
		a, err := f.Account(f.ctx, f.account)
		require.NoError(t, err)
		require.Equal(t, suspended, a.Suspended)

		require.NoError(t, other.ResumeAccount(f.ctx, f.account))
		require.NoError(t, other.ResumeAccount(f.ctx, f.account), "again")
		f.clock.advance(maxRefuse + 1)
		require.Equal(t, Good, f.request(1).Kind)
		a, err = f.Account(f.ctx, f.account)
		require.NoError(t, err)
		require.Zero(t, a.Suspended)
		require.ErrorIs(t, f.SuspendAccount(f.ctx, 4711), book.ErrNoAccount)
		require.ErrorIs(t, f.ResumeAccount(f.ctx, 4711), book.ErrNoAccount)
	})
}

func TestUsedAndRefill(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, book.Terms{Rate: limit(7), Points: limit(20)})
		require.Equal(t, Good, f.request(3).Kind)
		under := f.mustBegin()
		require.Equal(t, 1, f.InProgress(f.account))
		require.Zero(t, f.InProgress(4711))
		under.End()
		require.Zero(t, f.InProgress(f.account))
		for _, c := range []struct {
			at     string
			used   int64
			refill string
		}{{startTime, 3, "2026-12-01"}, {"2026-12-31T12:00:00Z", 0, "2027-01-01"}} {
			f.clock.until(c.at)
			a, err := f.Account(f.ctx, f.account)
			require.NoError(t, err)
			require.Equal(t, []any{c.used, midnight(c.refill)}, []any{a.Used, a.Refill})
		}
	})
}

// otherAccount returns a fixture for another account on the same ledger.
func (f *fixture) otherAccount(email string) *fixture {
	f.Helper()
	other := *f
	a, err := f.CreateAccount(f.ctx, email, unlimitedTerms)
	require.NoError(f, err)
	other.account = a.ID
	other.secret, other.key, err = f.CreateKey(f.ctx, a.ID, "test", book.KeyTerms{})
	require.NoError(f, err)
	return &other
}

// isStall reports whether a request failed because the machine was too busy to commit
// in time.
func isStall(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, ErrUndecided)
}
