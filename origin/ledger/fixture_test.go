package ledger

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/commit"
	"github.com/addrspec/addrspec/origin/ledger/store"
	_ "github.com/addrspec/addrspec/origin/ledger/store/postgres"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

// A fakeClock is the database's wall clock and this process's monotonic clock.
// Both advance only when a test moves them; set moves the wall clock alone.
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

// advance moves both clocks by d.
func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall, c.monotonic = c.wall.Add(d), c.monotonic.Add(d)
}

// until advances both clocks until the wall clock has the time.
func (c *fakeClock) until(text string) { c.advance(clockAt(text).wall.Sub(c.Now())) }

// withFake makes a ledger use a fake clock.
func withFake(c *fakeClock) Option {
	return func(s *settings) { s.clock, s.process, s.monotonic = c.Now, c.Now, c.instant }
}

// A fixture is a ledger with one account and one key.
type fixture struct {
	*testing.T
	*Ledger
	ctx     context.Context
	url     string
	clock   *fakeClock
	account int64
	key     book.Key
	secret  string
}

const startTime = "2026-11-20T12:00:00Z"

// newFixture opens a ledger at startTime and creates an account with the terms.
func newFixture(t *testing.T, url string, terms book.Terms, options ...Option) *fixture {
	f := &fixture{T: t, ctx: t.Context(), url: url, clock: clockAt(startTime)}
	f.Ledger = open(t, url, append([]Option{withFake(f.clock)}, options...)...)
	account := must(f.CreateAccount(f.ctx, "owner@example.com", terms))(t)
	f.account = account.ID
	f.secret, f.key = must2(f.CreateKey(f.ctx, account.ID, "test", book.KeyTerms{}))(t)
	return f
}

// eachDatabase runs test with a fixture in SQLite and one in PostgreSQL.
func eachDatabase(t *testing.T, terms book.Terms, test func(t *testing.T, f *fixture)) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) { test(t, newFixture(t, url, terms)) })
}

// Bounds of the packages state and commit.
const (
	maxAccept      = time.Second           // age of a view that judges
	maxRefuse      = 50 * time.Millisecond // age of a view that refuses
	tick           = 50 * time.Millisecond // between commits of tokens
	lockMemory     = time.Second           // for which groups leave out a locked account
	retention      = 24 * time.Hour        // of an idempotency record
	maxInProgress  = 1024
	groupLimit     = 256
	purgeRecords   = 500  // in a slice
	unpaidCapacity = 1024 // addresses
)

// hung is how long tests wait for what takes milliseconds on an idle machine.
const hung = 2 * time.Minute

// hurry is how long a request waits for a database that does not respond.
const hurry = 400 * time.Millisecond

// patient makes requests wait for a slow machine, and writes tallies soon.
// A request that meets an outage does not wait.
func patient(s *settings) { s.timing = commit.Timing{Wait: hung, Tally: tick} }

// impatient makes requests wait as they do in a service.
func impatient(s *settings) { s.timing.Wait = commit.DefaultTiming.Wait }

// inHurry makes requests wait for the database for a short time only, until
// awaitReady.
func (f *fixture) inHurry() { f.timing.Wait = hurry }

// chargeInHurry charges points while the database does not confirm.
func (f *fixture) chargeInHurry(points int64, once *Idempotency) error {
	f.Helper()
	r := f.mustBegin()
	defer r.End()
	require.Equal(f, Good, must(r.Claim(points, once))(f).Kind)
	f.inHurry()
	r.waited = 0
	c := Charge{Points: points, Found: book.Found{Valid: points}}
	if once != nil {
		c.Response = []byte(storedResponse)
	}
	_, err := r.Charge(c)
	return err
}

// A hookedStore runs transactions by a function of the test.
type hookedStore struct {
	store.Store
	transact func(ctx context.Context, inner store.Store, t store.Transaction) error
}

func (s hookedStore) Transact(ctx context.Context, t store.Transaction) error {
	return s.transact(ctx, s.Store, t)
}

func hook(transact func(context.Context, store.Store, store.Transaction) error) Option {
	return WithStore(func(s store.Store) store.Store { return hookedStore{s, transact} })
}

// refusing makes the transactions fail whose statements check refuses.
func refusing(check func(marked bool, list []store.Statement) error) Option {
	return hook(func(ctx context.Context, inner store.Store, t store.Transaction) error {
		decide := t.Decide
		t.Decide = func(now time.Time) ([]store.Statement, error) {
			list, err := decide(now)
			if err == nil {
				err = check(t.Marked, list)
			}
			return list, err
		}
		return inner.Transact(ctx, t)
	})
}

func open(t testing.TB, url string, options ...Option) *Ledger {
	l := must(Open(t.Context(), url, append([]Option{patient}, options...)...))(t)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func (f *fixture) newKey(name string, terms book.KeyTerms) (secret string, k book.Key) {
	f.Helper()
	return must2(f.CreateKey(f.ctx, f.account, name, terms))(f)
}

// replica returns a copy of the fixture with another ledger on the same database.
func (f *fixture) replica() *fixture {
	other := *f
	other.Ledger = open(f.T, f.url, withFake(f.clock))
	return &other
}

// mustBegin begins a request, which must be admitted.
func (f *fixture) mustBegin() *Request {
	f.Helper()
	r, d := must2(f.Begin(f.ctx, f.secret, ""))(f)
	require.Equal(f, Good, d.Kind)
	return r
}

// awaitTallies waits until the writer has collected the tallies of requests that
// were not charged. A later charge is committed after them.
func (f *fixture) awaitTallies() {
	f.Helper()
	require.Eventually(f, func() bool { return f.views.Count().Tallies == 0 }, hung, time.Millisecond)
}

// request runs a request of the fixture's key from Begin to End.
func (f *fixture) request(points int64) Decision {
	f.Helper()
	return f.requestWith(f.secret, points, nil)
}

func (f *fixture) requestWith(secret string, points int64, once *Idempotency) Decision {
	f.Helper()
	return must(f.tryRequest(f.ctx, secret, points, once))(f)
}

// storedResponse is the response to requests with an Idempotency-Key.
const storedResponse = "response"

// tryRequest runs a request and returns the decision that ended it.
func (f *fixture) tryRequest(ctx context.Context, secret string, points int64, once *Idempotency) (Decision, error) {
	r, d, err := f.Begin(ctx, secret, "")
	if err != nil || d.Kind != Good {
		return d, err
	}
	return tryFinish(r, points, once)
}

// tryFinish claims, charges and ends a request.
func tryFinish(r *Request, points int64, once *Idempotency) (Decision, error) {
	defer r.End()
	d, err := r.Claim(points, once)
	if err == nil && d.Kind == Good && points > 0 {
		c := Charge{Points: points, Found: book.Found{Valid: points}}
		if once != nil {
			c.Response = []byte(storedResponse)
		}
		d, err = r.Charge(c)
	}
	if d.Kind == Replayed {
		r.Succeeded()
	}
	return d, err
}

// used returns the account's points of this month, as the operator's list shows
// them.
func (f *fixture) used() int64 {
	f.Helper()
	return must(f.Account(f.ctx, f.account))(f).Used
}

// history returns the sum of the usage history.
func (f *fixture) history() (sum book.Tally) {
	f.Helper()
	days := must(f.UsageHistory(f.ctx, f.account, 0, 1_000_000))(f)
	for _, d := range days {
		sum = sum.Plus(d.Tally)
	}
	return sum
}

// requireHistory waits until the history has the sum, which includes requests
// that were not charged.
func (f *fixture) requireHistory(want book.Tally) {
	f.Helper()
	want.Found.Valid = want.Points
	require.Eventually(f, func() bool { return f.history() == want }, hung, tick/10, "%+v, not %+v", f.history(), want)
	require.Equal(f, want.Points, f.used(), "the history differs from the points used")
}

// inParallel runs work in n goroutines and waits for them.
func inParallel(n int, work func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { work(i) })
	}
	all.Wait()
}

func limit(n int64) *book.Limit { l := book.Limit(n); return &l }

func yes() *bool { t := true; return &t }

// unlimitedTerms never refuse a request.
var unlimitedTerms = book.Terms{Rate: limit(book.Unlimited), Points: limit(book.Unlimited)}

// emptyLike returns the URL of another empty database of the same kind.
func emptyLike(t *testing.T, url string) string {
	if strings.HasPrefix(url, "sqlite:") {
		return "sqlite:" + filepath.Join(t.TempDir(), "ledger.db")
	}
	return pgtest.NeedDatabase(t)
}

// exec runs a statement outside the ledger, as an operator could.
func (f *fixture) exec(query string, args ...any) {
	f.Helper()
	must(pgtest.SQL(f, f.url).ExecContext(f.ctx, query, args...))(f)
}

// queryRow reads one row outside the ledger.
func (f *fixture) queryRow(query string, into ...any) {
	f.Helper()
	require.NoError(f, pgtest.SQL(f, f.url).QueryRowContext(f.ctx, query).Scan(into...))
}

// strings reads rows of one column outside the ledger.
func (f *fixture) strings(query string) (list []string) {
	f.Helper()
	rows := must(pgtest.SQL(f, f.url).QueryContext(f.ctx, query))(f)
	defer rows.Close()
	for rows.Next() {
		list = append(list, "")
		require.NoError(f, rows.Scan(&list[len(list)-1]))
	}
	require.NoError(f, rows.Err())
	return list
}

// blockWrites prevents commits: on SQLite another connection has the write lock,
// PostgreSQL is read-only like a standby.
func (f *fixture) blockWrites() (reopen func()) {
	f.Helper()
	if !strings.HasPrefix(f.url, "sqlite:") {
		f.postgresReadOnly(true)
		return func() { f.postgresReadOnly(false) }
	}
	conn := must(pgtest.SQL(f, f.url).Conn(f.ctx))(f)
	must(conn.ExecContext(f.ctx, "BEGIN IMMEDIATE"))(f)
	return func() { require.NoError(f, conn.Close()) }
}

func (f *fixture) postgresReadOnly(on bool) {
	f.Helper()
	s := pgtest.Need(f)
	alter := fmt.Sprintf("ALTER DATABASE postgres SET default_transaction_read_only = %v", on)
	require.NoError(f, s.Exec(f.ctx, s.URL("public")+"&default_transaction_read_only=off", alter))
	require.NoError(f, s.CutConnections(f.ctx))
}

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
