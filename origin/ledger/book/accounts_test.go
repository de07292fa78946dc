package book

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAccounts(t *testing.T) {
	eachDatabase(t, Terms{}, func(t *testing.T, f *fixture) {
		free := must(f.AccountByEmail(f.ctx, "OWNER@example.com"))(t)
		require.Equal(t, Account{ID: f.account, Email: "owner@example.com", Plan: "free", Rate: 1, Points: 1000, Refill: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), Own: Terms{Plan: "free"}, Created: f.clock.Now()}, free)
		custom := must(f.CreateAccount(f.ctx, " Other@Example.COM ", Terms{Plan: "pro", Points: limit(Unlimited)}))(t)
		require.Equal(t, []Limit{5, Unlimited}, []Limit{custom.Rate, custom.Points}, "limits that are not given are the plan's")
		require.Equal(t, custom, must(f.Account(f.ctx, custom.ID))(t))
		for name, c := range map[string]struct {
			page AccountPage
			want []Account
		}{
			"all":                  {AccountPage{}, []Account{free, custom}},
			"the next page":        {AccountPage{After: free.ID}, []Account{custom}},
			"one":                  {AccountPage{Limit: 1}, []Account{free}},
			"a part":               {AccountPage{Search: "OTHER@"}, []Account{custom}},
			"a part of all":        {AccountPage{Search: "example"}, []Account{free, custom}},
			"no pattern of SQL's":  {AccountPage{Search: "%"}, nil},
			"no account after all": {AccountPage{After: custom.ID}, nil},
		} {
			require.Equal(t, c.want, must(f.Accounts(f.ctx, c.page))(t), name)
		}
		for _, id := range []int64{0, -1, 4711} {
			_, err := f.Account(f.ctx, id)
			require.ErrorIs(t, err, ErrNoAccount, id)
			require.ErrorIs(t, f.SuspendAccount(f.ctx, id), ErrNoAccount, id)
		}
	})
}

func TestAccountErrors(t *testing.T) {
	eachDatabase(t, Terms{}, func(t *testing.T, f *fixture) {
		create := func(email string, terms Terms) error {
			_, err := f.CreateAccount(f.ctx, email, terms)
			return err
		}
		require.ErrorIs(t, create("OWNER@example.com", Terms{}), ErrAccountExists)
		err := create("b@example.com", Terms{Plan: "gold"})
		require.ErrorIs(t, err, ErrNoPlan)
		require.ErrorContains(t, err, `"gold"; the plans are enterprise, free, pro`)
		require.ErrorContains(t, create("b@example.com", Terms{Rate: limit(0)}), "the rate 0")
		require.ErrorContains(t, create("b@example.com", Terms{Points: limit(-2)}), "points a month")
		for _, email := range []string{"", "nobody", "a b@example.com", "a\n@example.com", "\xff@example.com", strings.Repeat("a", 251) + "@b.c"} {
			require.ErrorIs(t, create(email, Terms{}), errEmail, "%q", email)
		}
		_, err = f.AccountByEmail(f.ctx, "nobody@example.com")
		require.ErrorIs(t, err, ErrNoAccount)
		_, _, err = f.CreateKey(f.ctx, 4711, "test", KeyTerms{})
		require.ErrorIs(t, err, ErrNoAccount)
	})
}

// The owner of a suspended account can revoke keys, and neither change nor delete the
// account, its keys and policies; its email is not free. Operators can.
func TestSuspendedOwnerChangesNothing(t *testing.T) {
	eachDatabase(t, unlimitedTerms, func(t *testing.T, f *fixture) {
		owner, operator := WithActor(f.ctx, Owner), WithActor(f.ctx, Operator)
		_, leaked := must2(f.CreateKey(owner, f.account, "leaked", KeyTerms{}))(t)
		f.mustPolicy("old", blocking)
		require.NoError(t, f.SuspendAccount(operator, f.account))
		name := "renamed"
		for what, change := range map[string]func(context.Context) error{
			"create": func(ctx context.Context) error {
				_, _, err := f.CreateKey(ctx, f.account, "late", KeyTerms{})
				return err
			},
			"rename": func(ctx context.Context) error {
				return f.ChangeKey(ctx, f.account, f.key.ID, KeyChange{Name: &name})
			},
			"rotate": func(ctx context.Context) error {
				_, _, err := f.RotateKey(ctx, f.account, f.key.ID, 0)
				return err
			},
			"set a policy": func(ctx context.Context) error {
				_, err := f.SetPolicy(ctx, f.account, "new", allowing)
				return err
			},
			"delete a policy": func(ctx context.Context) error { return f.DeletePolicy(ctx, f.account, "old") },
		} {
			require.ErrorIs(t, change(owner), ErrSuspended, what)
			require.NoError(t, change(operator), what)
		}
		require.ErrorIs(t, f.DeleteAccount(owner, f.account), ErrSuspended)
		require.NoError(t, f.RevokeKey(owner, f.account, leaked.ID))
		_, err := f.CreateAccount(f.ctx, "Owner@Example.com", Terms{})
		require.ErrorIs(t, err, ErrAccountExists)
	})
}
