package book

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	_ "github.com/addrspec/addrspec/origin/ledger/store/postgres"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// A fakeClock advances only when a test moves it.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A fixture is a book with one account and one key.
type fixture struct {
	*testing.T
	*Book
	ctx     context.Context
	url     string
	clock   *fakeClock
	account int64
	key     Key
}

// newFixture opens a book and creates an account with the terms. wrap returns the store that the
// book uses.
func newFixture(t *testing.T, url string, terms Terms, wrap ...func(store.Store) store.Store) *fixture {
	f := &fixture{T: t, ctx: t.Context(), url: url, clock: &fakeClock{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}}
	f.Book = f.open(wrap...)
	account := must(f.CreateAccount(f.ctx, "owner@example.com", terms))(t)
	f.account = account.ID
	_, f.key = must2(f.CreateKey(f.ctx, account.ID, "test", KeyTerms{}))(t)
	return f
}

// eachDatabase runs test with a fixture in SQLite and one in PostgreSQL.
func eachDatabase(t *testing.T, terms Terms, test func(t *testing.T, f *fixture)) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) { test(t, newFixture(t, url, terms)) })
}

// open opens another book in the same database.
func (f *fixture) open(wrap ...func(store.Store) store.Store) *Book {
	f.Helper()
	s := must(store.Open(f.ctx, f.url, f.clock.Now))(f)
	f.Cleanup(func() { require.NoError(f, s.Close()) })
	for _, w := range wrap {
		s = w(s)
	}
	return New(s, f.clock.Now, func() {}, slog.New(slog.DiscardHandler))
}

// exec runs a statement outside the book, as an operator could.
func (f *fixture) exec(query string, args ...any) {
	f.Helper()
	must(pgtest.SQL(f, f.url).ExecContext(f.ctx, query, args...))(f)
}

// valid returns how many of the secrets authenticate requests by the rows that the ledger reads.
func (f *fixture) valid(secrets ...string) (n int) {
	f.Helper()
	db := pgtest.SQL(f, f.url)
	for _, secret := range secrets {
		var is int
		require.NoError(f, db.QueryRowContext(f.ctx, `SELECT count(*) FROM secrets s JOIN keys k ON k.id = s.key
			WHERE s.hash = $1 AND k.revoked_ns IS NULL AND (s.expires_ns IS NULL OR s.expires_ns > $2)`,
			DigestOf(secret).Hex(), f.clock.Now().UnixNano()).Scan(&is))
		n += is
	}
	return n
}

func limit(n int64) *Limit { l := Limit(n); return &l }

var unlimitedTerms = Terms{Rate: limit(Unlimited), Points: limit(Unlimited)}

// must returns a result that a test cannot do without, as in must(l.Plans(ctx))(t).
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

func must2[T, U any](v T, u U, err error) func(testing.TB) (T, U) {
	return func(t testing.TB) (T, U) {
		t.Helper()
		require.NoError(t, err)
		return v, u
	}
}
