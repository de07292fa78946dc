package ledger

import (
	"errors"
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
		second, k2 := f.newKey("second", book.KeyTerms{})
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
		keys := must(f.ListKeys(f.ctx, f.account, book.KeyPage{Revoked: true}))(t)
		require.Equal(t, []book.Key{k2, f.key}, keys, "newest first")
		keys = must(f.ListKeys(f.ctx, f.account, book.KeyPage{}))(t)
		require.Equal(t, []book.Key{f.key}, keys, "without the revoked one")
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
		require.Equal(t, suspended, must(f.Account(f.ctx, f.account))(t).Suspended)

		require.NoError(t, other.ResumeAccount(f.ctx, f.account))
		require.NoError(t, other.ResumeAccount(f.ctx, f.account), "again")
		f.clock.advance(maxRefuse + 1)
		require.Equal(t, Good, f.request(1).Kind)
		require.Zero(t, must(f.Account(f.ctx, f.account))(t).Suspended)
		require.ErrorIs(t, f.SuspendAccount(f.ctx, 4711), book.ErrNoAccount)
		require.ErrorIs(t, f.ResumeAccount(f.ctx, 4711), book.ErrNoAccount)
	})
}

// otherAccount returns a fixture for another account on the same ledger.
func (f *fixture) otherAccount(email string) *fixture {
	f.Helper()
	other := *f
	a := must(f.CreateAccount(f.ctx, email, unlimitedTerms))(f)
	other.account = a.ID
	other.secret, other.key = must2(f.CreateKey(f.ctx, a.ID, "test", book.KeyTerms{}))(f)
	return &other
}

// isStall reports whether a request failed because the machine was too busy to commit
// in time.
func isStall(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, ErrUndecided)
}
