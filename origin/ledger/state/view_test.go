package state

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

// newTestViews returns views whose clock moves by advance only.
func newTestViews() (v *Views, advance func(time.Duration)) {
	now := time.Unix(1_800_000_000, 0)
	return NewViews(NewClock(now, func() time.Time { return now })), func(d time.Duration) { now = now.Add(d) }
}

var secret = book.Digest{1}

func rowOf(used int64) *ViewRow {
	return &ViewRow{Account: Account{ID: 1, rate: book.Unlimited, points: 100, consumption: consumption{used: used}},
		Key: Key{ID: 1, Account: 1, rate: book.Unlimited, budget: book.Unlimited}}
}

// read ends a query that found the points used, or another row.
func (v *Views) read(q Query, used int64) {
	v.EndQuery(q, map[book.Digest]*ViewRow{secret: rowOf(used)})
}

func (v *Views) commit(used int64) {
	rows, row := NewRows(), rowOf(used)
	rows.Instant = v.Clock.monotonic()
	rows.Accounts[1], rows.Keys[1] = &row.Account, &row.Key
	v.Publish(rows, nil)
}

// A query that began before a commit was published may have read older rows, so its
// result does not replace the commit's row, however late it arrives and however coarse the clock
// is. Of two queries, the rows of the one that began later remain.
func TestStaleReadsAreIgnored(t *testing.T) {
	for _, step := range []time.Duration{0, time.Millisecond} {
		v, advance := newTestViews()
		early := v.BeginQuery()
		v.read(early, 1)
		require.EqualValues(t, 1, v.accounts[1].used)
		advance(step)
		between := v.BeginQuery() // reads used = 1
		v.commit(5)
		v.read(between, 1)
		require.EqualValues(t, 5, v.accounts[1].used)

		before := v.BeginQuery()
		advance(time.Millisecond)
		after := v.BeginQuery()
		v.read(after, 9)
		require.EqualValues(t, 9, v.accounts[1].used, "a query that began after the commit")
		v.read(before, 8)
		v.read(early, 1)
		require.EqualValues(t, 9, v.accounts[1].used, "a query that began later has ended")
	}
}

// A query that reads the rows of a group before the group is published does not
// count its tokens twice, and one that read them before the commit counts them.
func TestReadWhileAGroupIsWritten(t *testing.T) {
	v, _ := newTestViews()
	row := rowOf(1)
	row.Account.rate, row.Account.tat = 10, v.Clock.Now().UnixNano()
	read := func(r *ViewRow) { v.EndQuery(v.BeginQuery(), map[book.Digest]*ViewRow{secret: r}) }
	read(row)
	for range 2 {
		_, d, _ := v.Admit(context.Background(), secret, "", true)
		require.Equal(t, Good, d.Kind)
	}
	group, _ := v.Group(nil, false, func(int64) bool { return false })
	require.Len(t, group, 1)
	_, _, _ = v.Admit(context.Background(), secret, "", true)
	a := v.accounts[1]
	three, interval := a.bucket, intervalOf(10)
	require.EqualValues(t, 3*interval, three-row.Account.tat)

	rows, after := NewRows(), *row
	after.Account.tat += 2 * interval
	rows.Now, rows.Instant = v.Clock.Now(), v.Clock.monotonic()
	written, key := row.Account, row.Key
	rows.Accounts[1], rows.Keys[1] = &written, &key
	group[0].Decide(rows)
	require.Equal(t, after.Account.tat, written.tat)
	v.Announce(rows, group)
	read(row)
	require.Equal(t, three, a.bucket, "read before the commit")
	read(&after)
	require.Equal(t, three, a.bucket, "read after the commit")
	v.Publish(rows, group)
	require.Equal(t, three, a.bucket, "published")
	require.Len(t, a.pending, 1)
}

// An operator's change through this ledger applies at once: a query that began before
// it does not make an expired view fresh.
func TestExpireDuringQuery(t *testing.T) {
	v, _ := newTestViews()
	age := func() time.Duration { return v.secrets[secret].age(v.Clock.monotonic()) }
	v.read(v.BeginQuery(), 1)
	require.Zero(t, age())
	began := v.BeginQuery()
	v.Expire()
	v.read(began, 1)
	require.Greater(t, age(), maxAccept)
	v.read(v.BeginQuery(), 1)
	require.Zero(t, age())
}

// Secrets and accounts in memory are bounded, also accounts without a secret, such as those that
// another replica has deleted. An account with requests in progress is not evicted.
func TestViewsAreBounded(t *testing.T) {
	v, _ := newTestViews()
	v.read(v.BeginQuery(), 1)
	v.accounts[1].inProgress = 1
	for i := range maxViews + 10 {
		row := rowOf(1)
		row.Account.ID, row.Key.Account = int64(i+2), int64(i+2)
		v.EndQuery(v.BeginQuery(), map[book.Digest]*ViewRow{{2, byte(i), byte(i >> 8), byte(i >> 16)}: row})
		require.LessOrEqual(t, len(v.secrets), maxViews)
	}
	require.LessOrEqual(t, len(v.accounts), maxViews+1)
	require.NotNil(t, v.secrets[secret])
	for id := range int64(maxViews) {
		v.account(id + 1000)
	}
	v.read(v.BeginQuery(), 1)
	require.Len(t, v.accounts, 1)
}

// Only a request whose key has a view may wait for the database, and only so many of an account and
// of all.
func TestWaitingRequestsAreBounded(t *testing.T) {
	v, _ := newTestViews()
	v.read(v.BeginQuery(), 1)
	require.Nil(t, v.BeginWait(book.Digest{9}), "nobody without a key waits")
	v.accounts[1].inProgress = maxInProgress - 2
	first, second := v.BeginWait(secret), v.BeginWait(secret)
	require.Nil(t, v.BeginWait(secret), "the account has no place left")
	first()
	v.waiting = maxWaiting
	require.Nil(t, v.BeginWait(secret), "there is none at all")
	v.waiting = 1
	second()
	require.NotNil(t, v.BeginWait(secret))
	require.Equal(t, 1, v.Count().Waiting)
}

// A void changes nothing if a month has begun since the charge. A month that a clock began that was
// set back is not begun twice.
func TestVoidAfterMonthEnd(t *testing.T) {
	k := consumption{month: 5, used: 7}
	k.roll(4)
	k.void(3, 4)
	require.Equal(t, consumption{month: 5, used: 7}, k)
	k.void(9, 5)
	require.Equal(t, consumption{month: 5, used: 0, changed: true}, k, "an operator has changed used in between")
}

// A record that was replaced after it was listed as expired is not deleted.
func TestPurgeKeepsReplacedRecords(t *testing.T) {
	rows, expired, fresh := NewRows(), RecordAt{1, Hash{1}}, RecordAt{1, Hash{2}}
	rows.Now = time.Unix(0, 100)
	rows.Accounts[1] = &Account{ID: 1, stored: 7}
	rows.Records[expired], rows.Records[fresh] = &Record{Size: 3, Expires: 100}, &Record{Size: 4, Expires: 101}
	Purge(1, []Hash{expired.ID, fresh.ID, {3}}).Decide(rows)
	require.Equal(t, map[RecordAt]*Record{fresh: {Size: 4, Expires: 101}}, rows.Records)
	require.EqualValues(t, 4, rows.Accounts[1].stored)
	require.Equal(t, []RecordAt{expired}, rows.Deleted)
}

// A group has room for so many tallies, and leaves out the accounts that are locked.
func TestGroupIsBounded(t *testing.T) {
	v, _ := newTestViews()
	for day := range tallyLimit + 44 {
		v.addTally(UsageAt{1, 1, book.Day(day)}, book.Tally{Requests: 1})
	}
	v.addTally(UsageAt{2, 2, 1}, book.Tally{Requests: 1})
	skip := func(account int64) bool { return account == 2 }
	for _, want := range []int{tallyLimit, 44, 0} {
		group, more := v.Group(nil, true, skip)
		require.Len(t, group, want)
		require.Equal(t, want == tallyLimit, more)
	}
	group, _ := v.Group(nil, false, func(int64) bool { return false })
	require.Empty(t, group, "tallies are not due")
	group, _ = v.Group(nil, true, func(int64) bool { return false })
	require.Len(t, group, 1)
	v.Fail(group, ErrUndecided)
	require.Equal(t, 1, v.Count().Tallies, "due again")
}

func TestHashesOfTheDatabase(t *testing.T) {
	var h Hash
	want := Hash{1, 0xab}
	for _, column := range []any{want.Hex(), []byte(want.Hex())} {
		h = Hash{}
		require.NoError(t, h.Scan(column))
		require.Equal(t, want, h)
	}
	for _, column := range []any{nil, "", []byte{}} {
		require.NoError(t, h.Scan(column))
		require.Equal(t, want, h)
	}
	for _, column := range []any{7, "ab", want.Hex() + "00", "x" + want.Hex()[1:]} {
		require.Error(t, h.Scan(column))
	}
}

// A tally of a key that was deleted since is dropped: its row would refer to nothing.
func TestTallyOfADeletedKeyIsDropped(t *testing.T) {
	rows := NewRows()
	rows.Accounts[1], rows.Keys[2] = &Account{ID: 1}, &Key{ID: 2, Account: 1}
	for _, at := range []UsageAt{{1, 3, 0}, {4, 2, 0}, {1, 2, 0}} {
		(&tallyOp{at, book.Tally{Requests: 1}}).Decide(rows)
	}
	require.Len(t, rows.Usage, 1)
}
