package ledger

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// forEachDatabase runs a test against every database, each time on an empty one.
func forEachDatabase(t *testing.T, test func(t *testing.T, url string)) {
	t.Run("sqlite", func(t *testing.T) {
		test(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	})
	t.Run("postgres", func(t *testing.T) { test(t, needPostgres(t).emptyDatabase(t)) })
}

// A fakeClock stands still until it is told to move.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func clockAt(text string) *fakeClock {
	now, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return &fakeClock{now: now}
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

func (c *fakeClock) set(text string) {
	to := clockAt(text).now
	c.advance(to.Sub(c.Now()))
}

// A bench is a ledger with one account and one key.
type bench struct {
	*testing.T
	*Ledger
	ctx     context.Context
	clock   *fakeClock
	account int64
	key     Key
	secret  string
}

const noon = "2026-11-20T12:00:00Z"

// begin opens a ledger at noon and makes an account with these terms.
func begin(t *testing.T, url string, terms Terms, options ...Option) *bench {
	b := &bench{T: t, ctx: t.Context(), clock: clockAt(noon)}
	b.Ledger = open(t, url, append([]Option{WithClock(b.clock.Now)}, options...)...)
	account, err := b.CreateAccount(b.ctx, "owner@example.com", terms)
	require.NoError(t, err)
	b.account = account.ID
	b.secret, b.key, err = b.CreateKey(b.ctx, account.ID, "test")
	require.NoError(t, err)
	return b
}

func open(t testing.TB, url string, options ...Option) *Ledger {
	l, err := Open(t.Context(), url, options...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

// ask sends a request of the bench's key.
func (b *bench) ask(points int64) Admission { return b.send(Request{Key: b.secret, Points: points}) }

func (b *bench) send(r Request) Admission {
	b.Helper()
	a, err := b.Admit(b.ctx, r)
	require.NoError(b, err)
	return a
}

func (b *bench) settle(a Admission, s Settlement) Usage {
	b.Helper()
	u, err := b.Settle(b.ctx, a, s)
	require.NoError(b, err)
	return u
}

// used is the account's points of this month, as the operator's list tells.
func (b *bench) used() int64 {
	b.Helper()
	a, err := b.AccountByEmail(b.ctx, "owner@example.com")
	require.NoError(b, err)
	return a.Used
}

// history sums the usage history over all time.
func (b *bench) history() (sum Tally) {
	b.Helper()
	days, err := b.UsageHistory(b.ctx, b.account, 0, 1_000_000)
	require.NoError(b, err)
	for _, d := range days {
		sum.Points += d.Points
		sum.Requests += d.Requests
		sum.Errors += d.Errors
	}
	return sum
}

func limit(n int64) *Limit { l := Limit(n); return &l }

// plenty is terms that refuse nothing.
var plenty = Terms{Rate: limit(Unlimited), Points: limit(Unlimited)}
