package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

func newTestViews() (*views, *fakeClock) {
	c := clockAt(startTime)
	return newViews(newClock(c.Now(), c.instant)), c
}

func rowOf(used int64) *viewRow {
	return &viewRow{account: accountState{id: 1, rate: book.Unlimited, points: 100, consumption: consumption{used: used}},
		key: keyState{id: 1, account: 1, rate: book.Unlimited, budget: book.Unlimited}}
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
	at := book.Digest{1}
	began, instant := v.readStart()
	v.publish(at, rowOf(1), began, instant)
	require.EqualValues(t, 1, v.accounts[1].used)

	charged := workingSetOf(v, 5) // decided, and not yet committed ...
	clock.advance(time.Millisecond)
	began, instant = v.readStart() // ... while a query reads used = 1
	v.publishGroup(charged, nil)
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
	v.publish(book.Digest{1}, rowOf(2), began, late)
	v.publish(book.Digest{1}, rowOf(1), began, early)
	require.EqualValues(t, 2, v.accounts[1].used)
}

// A query that began before a commit does not replace the rows of one that began
// after it, even if both have the same instant: a clock may be coarse.
func TestPublishReadsOfOneInstant(t *testing.T) {
	v, _ := newTestViews()
	at := book.Digest{1}
	early, instant := v.readStart()
	v.publish(at, rowOf(1), early, instant)
	v.publishGroup(workingSetOf(v, 5), nil)
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
	v.publish(book.Digest{1}, row, began, instant)
	a := v.accounts[1]
	for range 3 {
		a.pending = append(a.pending, &token{arrival: instant, key: a.keys[row.key.id]})
	}
	v.applyPending(a)
	three, interval := a.bucket, intervalOf(10)
	require.EqualValues(t, 3*interval, three-v.clock.at(instant).UnixNano())

	group := &tokenOp{view: a, id: 1, tokens: a.pending[:2]}
	ws := newWorkingSet()
	written := row.account
	written.tat = v.clock.at(instant).UnixNano() + 2*interval
	ws.accounts[1] = &written
	group.announce(ws)
	v.publish(book.Digest{1}, row, began, instant)
	require.Equal(t, three, a.bucket, "read before the commit")
	after := *row
	after.account.tat = written.tat
	v.publish(book.Digest{1}, &after, began, instant)
	require.Equal(t, three, a.bucket, "read after the commit")
	v.publishGroup(ws, []operation{group})
	require.Equal(t, three, a.bucket, "published")
	require.Len(t, a.pending, 1)
}

// An operator's change through this ledger applies at once: a query that began before
// it does not make an expired view fresh.
func TestExpireDuringQuery(t *testing.T) {
	v, _ := newTestViews()
	began, instant := v.readStart()
	v.publish(book.Digest{1}, rowOf(1), began, instant)
	require.Zero(t, v.secrets[book.Digest{1}].age(instant))
	began, instant = v.readStart()
	v.expire()
	v.publish(book.Digest{1}, rowOf(1), began, instant)
	require.Greater(t, v.secrets[book.Digest{1}].age(instant), maxAccept)
	began, instant = v.readStart()
	v.publish(book.Digest{1}, rowOf(1), began, instant)
	require.Zero(t, v.secrets[book.Digest{1}].age(instant))
}

func TestViewsAreBounded(t *testing.T) {
	v, _ := newTestViews()
	busy := rowOf(1)
	v.publish(book.Digest{}, busy, 0, v.clock.monotonic())
	v.accounts[1].inProgress = 1
	for i := range maxViews + 10 {
		row := rowOf(1)
		row.account.id, row.key.account = int64(i+2), int64(i+2)
		v.publish(book.Digest{1, byte(i), byte(i >> 8), byte(i >> 16)}, row, 0, v.clock.monotonic())
		require.LessOrEqual(t, len(v.secrets), maxViews)
	}
	require.LessOrEqual(t, len(v.accounts), maxViews+1)
	require.NotNil(t, v.secrets[book.Digest{}], "an account with requests in progress is not evicted")
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
