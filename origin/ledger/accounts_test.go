package ledger

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

func TestKeys(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
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
