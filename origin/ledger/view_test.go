package ledger

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
)

func newTestViews() (*views, *fakeClock) {
	c := clockAt(startTime)
	return newViews(newClock(c.Now(), c.instant, slog.New(slog.DiscardHandler))), c
}

func rowOf(used int64) *viewRow {
	return &viewRow{account: accountState{id: 1, rate: Unlimited, points: 100, consumption: consumption{used: used}},
		key: keyState{id: 1, account: 1, rate: Unlimited, budget: Unlimited}}
}

func workingSetOf(v *views, used int64) *workingSet {
	ws := newWorkingSet()
	ws.instant = v.clock.monotonic()
	row := rowOf(used)
	ws.accounts[1], ws.keys[1] = &row.account, &row.key
	return ws
}

// A query that began before a commit was published may have read older rows, so its
// result does not replace the commit's row, however late it arrives.
func TestPublishIgnoresStaleReads(t *testing.T) {
	v, clock := newTestViews()
	at := digest{1}
	began, instant := v.readStart()
	v.publish(at, rowOf(1), began, instant)
	require.EqualValues(t, 1, v.accounts[1].used)

	charged := workingSetOf(v, 5) // decided, and not yet committed ...
	clock.advance(time.Millisecond)
	began, instant = v.readStart() // ... while a query reads used = 1
	v.publishGroup(charged)
	v.publish(at, rowOf(1), began, instant)
	require.EqualValues(t, 5, v.accounts[1].used)

	began, instant = v.readStart()
	v.publish(at, rowOf(9), began, instant)
	require.EqualValues(t, 9, v.accounts[1].used, "a query that began after the commit")
}

// Of two queries, the rows of the one that began later remain.
func TestPublishReadsOutOfOrder(t *testing.T) {
	v, clock := newTestViews()
	began, early := v.readStart()
	clock.advance(time.Millisecond)
	_, late := v.readStart()
	v.publish(digest{1}, rowOf(2), began, late)
	v.publish(digest{1}, rowOf(1), began, early)
	require.EqualValues(t, 2, v.accounts[1].used)
}

// A query that began before a commit does not replace the rows of one that began
// after it, even if both have the same instant: a clock may be coarse.
func TestPublishReadsOfOneInstant(t *testing.T) {
	v, _ := newTestViews()
	at := digest{1}
	early, instant := v.readStart()
	v.publish(at, rowOf(1), early, instant)
	v.publishGroup(workingSetOf(v, 5))
	late, _ := v.readStart()
	v.publish(at, rowOf(5), late, instant)
	v.publish(at, rowOf(1), early, instant)
	require.EqualValues(t, 5, v.accounts[1].used)
}

// A query that reads the rows of a group before the group is published does not
// count its tokens twice, and one that read them before the commit counts them.
func TestPublishWhileAGroupIsWritten(t *testing.T) {
	v, _ := newTestViews()
	began, instant := v.readStart()
	row := rowOf(1)
	row.account.rate, row.account.tat = 10, instant.UnixNano()
	v.publish(digest{1}, row, began, instant)
	a := v.accounts[1]
	for range 3 {
		a.pending = append(a.pending, &token{arrival: instant, key: a.keys[row.key.id]})
	}
	v.applyPending(a)
	three, interval := a.bucket, intervalOf(10)
	require.EqualValues(t, 3*interval, three-v.clock.at(instant).UnixNano())

	group := tokenOp{account: a, id: 1, tokens: a.pending[:2]}
	ws := newWorkingSet()
	written := row.account
	written.tat = v.clock.at(instant).UnixNano() + 2*interval
	ws.accounts[1] = &written
	group.announce(ws)
	v.publish(digest{1}, row, began, instant)
	require.Equal(t, three, a.bucket, "read before the commit")
	after := *row
	after.account.tat = written.tat
	v.publish(digest{1}, &after, began, instant)
	require.Equal(t, three, a.bucket, "read after the commit")
	v.publishGroup(ws)
	group.settle(v)
	require.Equal(t, three, a.bucket, "published")
	require.Len(t, a.pending, 1)
}

// An operator's change through this ledger applies at once: a query that began before
// it does not make an expired view fresh.
func TestExpireDuringQuery(t *testing.T) {
	v, _ := newTestViews()
	began, instant := v.readStart()
	v.publish(digest{1}, rowOf(1), began, instant)
	require.Zero(t, v.age(v.secrets[digest{1}], instant))
	began, instant = v.readStart()
	v.expire()
	v.publish(digest{1}, rowOf(1), began, instant)
	require.Greater(t, v.age(v.secrets[digest{1}], instant), maxAccept)
	began, instant = v.readStart()
	v.publish(digest{1}, rowOf(1), began, instant)
	require.Zero(t, v.age(v.secrets[digest{1}], instant))
}

func TestViewsAreBounded(t *testing.T) {
	v, _ := newTestViews()
	busy := rowOf(1)
	v.publish(digest{}, busy, 0, v.clock.monotonic())
	v.accounts[1].inProgress = 1
	for i := range maxViews + 10 {
		row := rowOf(1)
		row.account.id, row.key.account = int64(i+2), int64(i+2)
		v.publish(digest{1, byte(i), byte(i >> 8), byte(i >> 16)}, row, 0, v.clock.monotonic())
		require.LessOrEqual(t, len(v.secrets), maxViews)
	}
	require.LessOrEqual(t, len(v.accounts), maxViews+1)
	require.NotNil(t, v.secrets[digest{}], "an account with requests in progress is not evicted")
}

// Accounts without secrets, such as those deleted by another replica, do not
// accumulate.
func TestViewsOfAccountsAreBounded(t *testing.T) {
	f := newFixture(t, "sqlite:"+t.TempDir()+"/x.db", unlimitedTerms)
	f.request(1)
	f.views.mu.Lock()
	for id := range int64(maxViews) {
		f.views.account(id + 1000)
	}
	f.views.mu.Unlock()
	f.clock.advance(maxAccept + 1)
	require.Equal(t, Good, f.request(1).Kind)
	f.views.mu.Lock()
	defer f.views.mu.Unlock()
	require.Len(t, f.views.accounts, 1)
}

// A readCounter counts the groups that read rows. If fail is set, a group is committed
// and reported as failed, once.
type readCounter struct {
	store.Store
	groups *atomic.Int64
	fail   *atomic.Bool
}

var errReported = errors.New("reported as failed")

func (c readCounter) Transact(ctx context.Context, t store.Transaction) error {
	if reads := t.Reads; t.Marked {
		t.Reads = func() []store.Statement {
			list := reads()
			if len(list) > 0 {
				c.groups.Add(1)
			}
			return list
		}
	}
	err := c.Store.Transact(ctx, t)
	if t.Marked && err == nil && c.fail.Swap(false) {
		return errReported
	}
	return err
}

// newCountedFixture returns a fixture whose store is a readCounter.
func newCountedFixture(t *testing.T, url string, terms Terms) (*fixture, readCounter) {
	c := readCounter{groups: new(atomic.Int64), fail: new(atomic.Bool)}
	return newFixture(t, url, terms, WithStore(func(inner store.Store) store.Store { c.Store = inner; return c })), c
}

// On SQLite a group reads rows once, and again after a commit of anyone else. On
// PostgreSQL each group reads or compares them, see TestPostgresGuessesWrong.
func TestExactRowsAreNotRead(t *testing.T) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f, counter := newCountedFixture(t, url, Terms{Rate: limit(Unlimited), Points: limit(100)})
		reads := func(change string, do func()) {
			t.Helper()
			do()
			before := counter.groups.Load()
			require.Equal(t, Good, f.request(1).Kind)
			first := counter.groups.Load() - before
			require.Equal(t, Good, f.request(1).Kind)
			if strings.HasPrefix(url, "sqlite:") {
				require.EqualValues(t, 1, first, change)
				require.EqualValues(t, 1, counter.groups.Load()-before, "the second after "+change)
			}
		}
		reads("the start", func() {})
		other := f.replica()
		reads("a charge of another process", func() { require.Equal(t, Good, other.request(1).Kind) })
		reads("a change by an operator", func() {
			require.NoError(t, f.ChangeTerms(f.ctx, f.account, Terms{Rate: limit(Unlimited), Points: limit(50)}))
		})
		reads("a change with SQL", func() { f.exec("UPDATE accounts SET points = 60") })
		reads("a failure of unknown effect", func() {
			counter.fail.Store(true)
			_, err := f.tryRequest(f.ctx, f.secret, 1, nil)
			require.ErrorIs(t, err, ErrUnavailable)
			f.awaitReady()
		})
		require.EqualValues(t, 12, f.used())
		require.EqualValues(t, 12, f.history().Points)
	})
}

// On SQLite the groups of other keys confirm a key's rows, until anyone else commits.
func TestGroupsConfirmExactRows(t *testing.T) {
	f, _ := newCountedFixture(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"), unlimitedTerms)
	busy, _, err := f.CreateKey(f.ctx, f.account, "busy", KeyTerms{})
	require.NoError(t, err)
	use := func() { require.Equal(t, Good, f.requestWith(busy, 1, nil).Kind) }
	queries := func(do func()) int64 {
		before := f.Stats().Reads
		do()
		return f.Stats().Reads - before
	}
	f.request(1)
	use()
	for range 5 {
		f.advanceBetweenGroups(maxAccept - time.Millisecond)
		require.Zero(t, queries(use))
	}
	require.Zero(t, queries(func() { f.request(1) }), "confirmed")
	f.advanceBetweenGroups(maxAccept + time.Millisecond)
	require.EqualValues(t, 1, queries(func() { f.request(1) }), "no group has confirmed it for a second")

	f.exec("UPDATE keys SET revoked_ns = 1 WHERE name = 'test'")
	use()
	f.advanceBetweenGroups(maxAccept / 2)
	use() // which no longer confirms
	f.advanceBetweenGroups(maxAccept/2 + time.Millisecond)
	_, d, err := f.Begin(f.ctx, f.secret, "")
	require.NoError(t, err)
	require.Equal(t, UnknownKey, d.Kind, "at most a second later, before the work")
}

// A view that was rolled to the next month in memory is not what the database has.
func TestRolledViewIsNotExact(t *testing.T) {
	f, counter := newCountedFixture(t, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"), Terms{Rate: limit(Unlimited), Points: limit(10)})
	require.EqualValues(t, 9, f.request(9).Usage.Current)
	require.EqualValues(t, 10, f.request(1).Usage.Current)
	f.advanceBetweenGroups(31 * 24 * time.Hour)
	before := counter.groups.Load()
	require.EqualValues(t, 2, f.request(2).Usage.Current)
	require.EqualValues(t, 1, counter.groups.Load()-before)
	require.EqualValues(t, 2, f.used())
	require.EqualValues(t, 12, f.history().Points)
}

// filled returns the account that a group takes from the views, or nil, if it needs
// the account, the key 1 and the secret 1.
func filled(v *views) *accountState { return filledFor(v, rowKey{1, 1, digest{1}}) }

func filledFor(v *views, row rowKey) *accountState {
	ws := newWorkingSet()
	v.fill(ws, &readSet{rows: map[rowKey]bool{row: true}}, true)
	return ws.accounts[row.account]
}

// The row of a query is exact, unless it began before a group that changed a row
// without a view: then it may have read what the row was before.
func TestQueriesThatOverlapGroups(t *testing.T) {
	for name, changed := range map[string]func(*workingSet) *consumption{
		"account": func(ws *workingSet) *consumption { return &ws.accounts[1].consumption },
		"key":     func(ws *workingSet) *consumption { return &ws.keys[1].consumption },
	} {
		t.Run(name, func(t *testing.T) {
			v, _ := newTestViews()
			v.publishGroup(newWorkingSet()) // the first
			publish := func(used int64) func() {
				began, instant := v.readStart()
				return func() { v.publish(digest{1}, rowOf(used), began, instant) }
			}
			before := publish(1)
			group := workingSetOf(v, 5)
			changed(group).changed = true
			v.publishGroup(group)
			before()
			require.Nil(t, filled(v))
			publish(5)()
			require.EqualValues(t, 5, filled(v).used)

			during := publish(5)
			v.publishGroup(workingSetOf(v, 6)) // which now has views
			during()
			require.EqualValues(t, 6, filled(v).used)
			changedByOperator := publish(6)
			v.expire()
			changedByOperator()
			require.Nil(t, filled(v))
			require.Greater(t, v.age(v.secrets[digest{1}], v.clock.monotonic()), maxAccept)
		})
	}
}

// A group that does not know whether it was alone takes nothing from the views.
func TestRowsAreNotExactAfterOthers(t *testing.T) {
	v, _ := newTestViews()
	began, instant := v.readStart()
	v.publish(digest{1}, rowOf(1), began, instant)
	group := workingSetOf(v, 5)
	group.secrets[digest{1}] = 0
	v.publishGroup(group)
	require.NotNil(t, filled(v))
	for name, row := range map[string]*consumption{"account": &v.accounts[1].consumption, "key": &v.accounts[1].keys[1].consumption} {
		row.roll(row.month + 1)
		require.Nil(t, filled(v), "%s rolled to another month", name)
		v.publishGroup(group)
		require.NotNil(t, filled(v))
	}
	v.accounts[1].key(2).freshness = v.accounts[1].freshness
	require.NotNil(t, filledFor(v, rowKey{account: 1, key: 2}))
	require.Nil(t, filledFor(v, rowKey{1, 2, digest{1}}), "a secret of another key")
	require.NotNil(t, filled(v))
	v.fill(newWorkingSet(), &readSet{}, false)
	require.Nil(t, filled(v))
}
