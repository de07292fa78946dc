package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	"github.com/stretchr/testify/require"
)

// forEachDatabase runs a test against every database, each time on an empty one.
func forEachDatabase(t *testing.T, test func(t *testing.T, url string)) {
	t.Run("sqlite", func(t *testing.T) {
		test(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
	})
	t.Run("postgres", func(t *testing.T) { test(t, needPostgres(t).emptyDatabase(t)) })
}

// A fakeClock stops until it is moved: the database's wall clock and this
// process's monotonic clock, which are apart once the wall clock is set.
type fakeClock struct {
	mu              sync.Mutex
	wall, monotonic time.Time
}

func clockAt(text string) *fakeClock {
	now, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return &fakeClock{wall: now, monotonic: now}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

func (c *fakeClock) instant() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.monotonic
}

// advance lets time pass on both.
func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall, c.monotonic = c.wall.Add(d), c.monotonic.Add(d)
}

// until lets time pass up to a moment.
func (c *fakeClock) until(text string) { c.advance(clockAt(text).wall.Sub(c.Now())) }

// set sets the wall clock alone.
func (c *fakeClock) set(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = to
}

func (c *fakeClock) setBack(d time.Duration) { c.set(c.Now().Add(-d)) }

// withFake makes a ledger go by a fake clock.
func withFake(c *fakeClock) Option {
	return func(s *settings) { s.clock, s.monotonic = c.Now, c.instant }
}

// A bench is a ledger with one account and one key.
type bench struct {
	*testing.T
	*Ledger
	ctx     context.Context
	url     string
	clock   *fakeClock
	account int64
	key     Key
	secret  string
}

const noon = "2026-11-20T12:00:00Z"

// begin opens a ledger at noon and makes an account with these terms.
func begin(t *testing.T, url string, terms Terms, options ...Option) *bench {
	b := &bench{T: t, ctx: t.Context(), url: url, clock: clockAt(noon)}
	b.Ledger = open(t, url, append([]Option{withFake(b.clock)}, options...)...)
	account, err := b.CreateAccount(b.ctx, "owner@example.com", terms)
	require.NoError(t, err)
	b.account = account.ID
	b.secret, b.key, err = b.CreateKey(b.ctx, account.ID, "test", KeyTerms{})
	require.NoError(t, err)
	return b
}

func open(t testing.TB, url string, options ...Option) *Ledger {
	l, err := Open(t.Context(), url, options...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

// elsewhere is another ledger on the same database: another replica.
func (b *bench) elsewhere() *bench {
	other := *b
	other.Ledger = open(b.T, b.url, withFake(b.clock))
	return &other
}

// arrive begins a request that must be let in.
func (b *bench) arrive() *Request {
	b.Helper()
	r, d, err := b.Begin(b.ctx, b.secret)
	require.NoError(b, err)
	require.Equal(b, Good, d.Verdict)
	return r
}

// ask sends a request of the bench's key from its beginning to its end.
func (b *bench) ask(points int64) Decision {
	b.Helper()
	return b.send(b.secret, points, nil)
}

func (b *bench) send(secret string, points int64, once *Idempotency) Decision {
	b.Helper()
	d, err := b.try(b.ctx, secret, points, once)
	require.NoError(b, err)
	return d
}

// answerOf is what the request with an Idempotency-Key is answered.
const answerOf = "answer"

// try sends a request and returns the decision that ended it.
func (b *bench) try(ctx context.Context, secret string, points int64, once *Idempotency) (Decision, error) {
	r, d, err := b.Begin(ctx, secret)
	if err != nil || d.Verdict != Good {
		return d, err
	}
	defer r.End()
	if d, err = r.Claim(points, once); err != nil || d.Verdict != Good || points == 0 {
		return d, err
	}
	c := Charge{Points: points, Found: Found{Valid: points}}
	if once != nil {
		c.Answer = []byte(answerOf)
	}
	return r.Charge(c)
}

// used is the account's points of this month, as the operator's list shows.
func (b *bench) used() int64 {
	b.Helper()
	a, err := b.AccountByEmail(b.ctx, "owner@example.com")
	require.NoError(b, err)
	return a.Used
}

// history sums the usage history over all time, once all is recorded.
func (b *bench) history() (sum Tally) {
	b.Helper()
	days, err := b.UsageHistory(b.ctx, b.account, 0, 1_000_000)
	require.NoError(b, err)
	for _, d := range days {
		sum = sum.plus(d.Tally)
	}
	return sum
}

// requireHistory waits until what was not charged is recorded, too.
func (b *bench) requireHistory(want Tally) {
	b.Helper()
	want.Found.Valid = want.Points
	require.Eventually(b, func() bool { return b.history() == want }, 20*recordEvery, postEvery, "%+v, not %+v", b.history(), want)
	require.Equal(b, want.Points, b.used(), "the history is what was used")
}

// together runs work in n goroutines and waits for them.
func together(n int, work func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { work(i) })
	}
	all.Wait()
}

func limit(n int64) *Limit { l := Limit(n); return &l }

func yes() *bool { t := true; return &t }

// plenty is terms that refuse nothing.
var plenty = Terms{Rate: limit(Unlimited), Points: limit(Unlimited)}

// freshOf is another empty database of the same kind.
func freshOf(t *testing.T, url string) string {
	if strings.HasPrefix(url, "sqlite:") {
		return "sqlite:" + filepath.Join(t.TempDir(), "ledger.db")
	}
	return needPostgres(t).emptyDatabase(t)
}

// sql runs a statement beside the ledger, and row reads one, as an operator by
// hand would.
func (b *bench) sql(query string, args ...any) {
	b.Helper()
	b.withDatabase(func(db *sql.DB) {
		_, err := db.ExecContext(b.ctx, query, args...)
		require.NoError(b, err)
	})
}

func (b *bench) row(query string, into ...any) {
	b.Helper()
	b.withDatabase(func(db *sql.DB) { require.NoError(b, db.QueryRowContext(b.ctx, query).Scan(into...)) })
}

func (b *bench) withDatabase(do func(*sql.DB)) {
	b.Helper()
	driver, source := "pgx", b.url
	if path, ok := strings.CutPrefix(b.url, "sqlite:"); ok {
		driver, source = "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=foreign_keys(0)"
	}
	db, err := sql.Open(driver, source)
	require.NoError(b, err)
	defer db.Close()
	do(db)
}

// closeForWrites makes the database take no commits: SQLite's write lock is
// held by another process, PostgreSQL is as a standby would be.
func (b *bench) closeForWrites() (reopen func()) {
	b.Helper()
	path, ok := strings.CutPrefix(b.url, "sqlite:")
	if !ok {
		b.postgresReadOnly(true)
		return func() { b.postgresReadOnly(false) }
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	require.NoError(b, err)
	conn, err := db.Conn(b.ctx)
	require.NoError(b, err)
	_, err = conn.ExecContext(b.ctx, "BEGIN IMMEDIATE")
	require.NoError(b, err)
	return func() { require.NoError(b, errors.Join(conn.Close(), db.Close())) }
}

func (b *bench) postgresReadOnly(on bool) {
	b.Helper()
	s := needPostgres(b)
	s.sql(b.T, s.URL("public")+"&default_transaction_read_only=off", fmt.Sprintf("ALTER DATABASE postgres SET default_transaction_read_only = %v", on))
	require.NoError(b, s.CutConnections(b.ctx))
}
