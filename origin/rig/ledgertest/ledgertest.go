// Package ledgertest makes accounts in the ledger of a test, and reads what they have
// used. It imports both drivers.
package ledgertest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	_ "github.com/addrspec/addrspec/origin/ledger/store/postgres"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
)

// Open opens a database, which a running service may use as well, until the
// test ends.
func Open(t testing.TB, database string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(context.Background(), database)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// Unlimited returns a rate or a number of points without a limit.
func Unlimited() *book.Limit { return Limit(book.Unlimited) }

// Limit returns a rate or a number of points for [ledger.Terms].
func Limit(n book.Limit) *book.Limit { return &n }

// NewAccount creates an account without limits and returns a key for it.
func NewAccount(t testing.TB, l *ledger.Ledger, email string) (key string) {
	t.Helper()
	key, _ = NewAccountOn(t, l, email, book.Terms{Rate: Unlimited(), Points: Unlimited()})
	return key
}

// NewAccountOn creates an account on the given terms and returns a key for it.
func NewAccountOn(t testing.TB, l *ledger.Ledger, email string, terms book.Terms) (key string, account int64) {
	t.Helper()
	a, err := l.CreateAccount(context.Background(), email, terms)
	require.NoError(t, err)
	key, _, err = l.CreateKey(context.Background(), a.ID, "test", book.KeyTerms{})
	require.NoError(t, err)
	return key, a.ID
}

// Used returns how many points the account has used this month.
func Used(t testing.TB, l *ledger.Ledger, email string) int64 {
	t.Helper()
	a, err := l.AccountByEmail(context.Background(), email)
	require.NoError(t, err)
	return a.Used
}

// Usage returns the points and the counts of facts in the account's usage history.
func Usage(t testing.TB, l *ledger.Ledger, email string) (points int64, found book.Found) {
	t.Helper()
	a, err := l.AccountByEmail(context.Background(), email)
	require.NoError(t, err)
	today := book.DayOf(time.Now()) // which may end before the history is read
	days, err := l.UsageHistory(context.Background(), a.ID, today-1, today+1)
	require.NoError(t, err)
	for _, d := range days {
		points += d.Points
		found.Valid += d.Valid
		found.Invalid += d.Invalid
		found.Disposable += d.Disposable
		found.Public += d.Public
		found.Relay += d.Relay
		found.Role += d.Role
		found.Gibberish += d.Gibberish
		found.Typo += d.Typo
		found.LookupErrors += d.LookupErrors
	}
	return points, found
}
