package ledger

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

func TestAccounts(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		clock := clockAt(startTime)
		l, ctx := open(t, url, withFake(clock)), t.Context()
		free, err := l.CreateAccount(ctx, " Owner@Example.COM ", Terms{})
		require.NoError(t, err)
		require.Equal(t, Account{ID: free.ID, Email: "owner@example.com", Plan: "free", Rate: 1, Points: 1000, Own: Terms{Plan: "free"}, Created: clock.Now()}, free)
		custom, err := l.CreateAccount(ctx, "other@example.com", Terms{Plan: "pro", Points: limit(Unlimited)})
		require.NoError(t, err)
		require.Equal(t, []Limit{5, Unlimited}, []Limit{custom.Rate, custom.Points}, "limits that are not given are the plan's")

		found, err := l.AccountByEmail(ctx, "OWNER@example.com")
		require.NoError(t, err)
		require.Equal(t, free, found)
		list, err := l.Accounts(ctx, AccountPage{})
		require.NoError(t, err)
		require.Equal(t, []Account{free, custom}, list)
		list, err = l.Accounts(ctx, AccountPage{After: free.ID})
		require.NoError(t, err)
		require.Equal(t, []Account{custom}, list, "the next page")
		list, err = l.Accounts(ctx, AccountPage{Limit: 1})
		require.NoError(t, err)
		require.Equal(t, []Account{free}, list)
		for part, want := range map[string][]Account{"OTHER@": {custom}, "example": {free, custom}, "%": nil} {
			list, err = l.Accounts(ctx, AccountPage{Search: part})
			require.NoError(t, err)
			require.Equal(t, want, list, part)
		}
		again, err := l.Account(ctx, custom.ID)
		require.NoError(t, err)
		require.Equal(t, custom, again)
		_, err = l.Account(ctx, 4711)
		require.ErrorIs(t, err, ErrNoAccount)
	})
}

func TestAccountErrors(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		l, ctx := open(t, url), t.Context()
		create := func(email string, terms Terms) error {
			_, err := l.CreateAccount(ctx, email, terms)
			return err
		}
		require.NoError(t, create("a@example.com", Terms{}))
		require.ErrorIs(t, create("A@example.com", Terms{}), ErrAccountExists)
		err := create("b@example.com", Terms{Plan: "gold"})
		require.ErrorIs(t, err, ErrNoPlan)
		require.ErrorContains(t, err, `"gold"; the plans are enterprise, free, pro`)
		require.ErrorContains(t, create("b@example.com", Terms{Rate: limit(0)}), "the rate 0")
		require.ErrorContains(t, create("b@example.com", Terms{Points: limit(-2)}), "points a month")
		for _, email := range []string{"", "nobody", "a b@example.com", "a\n@example.com", "\xff@example.com", strings.Repeat("a", 251) + "@b.c"} {
			require.ErrorIs(t, create(email, Terms{}), errEmail, "%q", email)
		}
		_, err = l.AccountByEmail(ctx, "nobody@example.com")
		require.ErrorIs(t, err, ErrNoAccount)
		_, _, err = l.CreateKey(ctx, 4711, "test", KeyTerms{})
		require.ErrorIs(t, err, ErrNoAccount)
	})
}

func TestKeys(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f := newFixture(t, url, unlimitedTerms)
		second, k2, err := f.CreateKey(f.ctx, f.account, "second", KeyTerms{})
		require.NoError(t, err)
		require.Equal(t, second[:8], k2.Hint)
		f.request(1)

		f.clock.advance(time.Hour)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, k2.ID))
		revoked := f.clock.Now()
		f.clock.advance(time.Hour)
		require.NoError(t, f.RevokeKey(f.ctx, f.account, k2.ID), "revoking again changes nothing")
		require.ErrorIs(t, f.RevokeKey(f.ctx, f.account, 4711), ErrNoKey)
		require.ErrorIs(t, f.RevokeKey(f.ctx, f.account+1, f.key.ID), ErrNoKey, "a key of another account")

		f.key.LastDay, k2.Revoked = DayOf(f.clock.Now()), revoked
		keys, err := f.ListKeys(f.ctx, f.account, KeyPage{Revoked: true})
		require.NoError(t, err)
		require.Equal(t, []Key{k2, f.key}, keys, "newest first")
		keys, err = f.ListKeys(f.ctx, f.account, KeyPage{})
		require.NoError(t, err)
		require.Equal(t, []Key{f.key}, keys, "without the revoked one")

		for _, name := range []string{"", "a\x00b", strings.Repeat("n", 65)} {
			_, _, err = f.CreateKey(f.ctx, f.account, name, KeyTerms{})
			require.ErrorContains(t, err, "the name of a key", "%q", name)
		}
	})
}
