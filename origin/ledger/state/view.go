package state

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

// Views contains the recent state of accounts and keys, so that most requests are
// judged in memory (judge.go). Each view is a row of the database with the effect of
// the requests in progress on this replica, which the row does not have yet. Views
// only save work: the transaction that charges decides again.
//
// A row is published after a commit of this replica, or after a query. A query
// that began before an account's last commit was published may have read older
// rows, so it does not replace that commit's rows.
type Views struct {
	Clock *Clock

	mu         sync.Mutex
	secrets    map[book.Digest]*secretView
	accounts   map[int64]*accountView
	pending    map[*accountView]bool  // accounts with pending tokens
	tallies    map[UsageAt]book.Tally // requests that were not charged, not yet recorded
	voids      []*made                // charges to give back with the next group
	voided     int64                  // charges that were given back
	commits    uint64                 // number of commits published, and of calls of Expire
	expired    uint64                 // commits at the last call of Expire
	inProgress int
	waiting    int // requests that wait for the database to commit again
}

// maxViews bounds the secrets in memory. Secrets that do not exist take no space.
const maxViews = 1 << 16

// A view older than maxAccept is not used. One older than maxRefuse does not
// refuse a request, so a raised limit applies at once.
const (
	maxAccept = time.Second
	maxRefuse = 50 * time.Millisecond
)

type freshness struct {
	commit uint64    // number of the commit that published it, or of the last one before its query
	read   time.Time // when it was read, by the monotonic clock
}

type secretView struct {
	freshness
	expires int64
	key     *keyView
	account *accountView
}

type keyView struct {
	freshness
	Key
	bucket  int64 // the row's TAT after the pending tokens
	claimed int64 // points of requests in progress
}

type accountView struct {
	freshness
	Account
	keys       map[int64]*keyView
	bucket     int64    // the row's TAT after the pending tokens
	pending    []*token // not yet in the database, by arrival
	writing    commitment
	counted    int   // the first of pending, which the row has already; see publish
	claimed    int64 // points of requests in progress
	inProgress int
	waiting    int   // see Views
	freeBucket int64 // TAT of the requests that cost nothing, which the database does not have
	unpaid     unpaidWork
	keysInUse  map[Hash]Hash // Idempotency-Keys of requests in progress, with the hashes of their bodies
}

// A commitment is what a commit group in progress writes to an account's bucket.
type commitment struct {
	tokens int   // the first of the pending tokens
	tat    int64 // the row's TAT after them
}

// A token is one that a request took when it arrived.
type token struct {
	arrival time.Time // by the monotonic clock
	key     *keyView
	keyID   int64
	cancel  context.CancelCauseFunc // of the request
	wait    time.Duration           // until there is a token, if the database refuses this one; used by the writer only
	refused time.Duration           // wait, once the refusal is committed
}

// A made charge is one that a transaction decided to make.
type made struct {
	at     UsageAt
	month  book.Month
	points int64
	found  book.Found
}

// NewViews returns views of nothing.
func NewViews(c *Clock) *Views {
	return &Views{Clock: c, secrets: map[book.Digest]*secretView{}, accounts: map[int64]*accountView{},
		pending: map[*accountView]bool{}, tallies: map[UsageAt]book.Tally{}}
}

func (s *secretView) age(now time.Time) time.Duration {
	return max(now.Sub(s.read), now.Sub(s.key.read), now.Sub(s.account.read))
}

func (f *freshness) olderThan(fresh freshness) bool {
	return f.commit <= fresh.commit && !f.read.After(fresh.read)
}

// A Query is when a query of views began.
type Query struct{ freshness }

// BeginQuery is called when a query of views begins.
func (v *Views) BeginQuery() Query {
	v.mu.Lock()
	defer v.mu.Unlock()
	return Query{freshness{v.commits, v.Clock.monotonic()}}
}

// A ViewRow is the row of a secret, its key and its account.
type ViewRow struct {
	Expires int64 // of the secret
	Key     Key
	Account Account
}

// EndQuery publishes the rows of a query. A secret without a row, nil, does not exist, so its view is
// removed.
func (v *Views) EndQuery(q Query, rows map[book.Digest]*ViewRow) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for at, row := range rows {
		if row == nil {
			delete(v.secrets, at)
		} else {
			v.publish(at, row, q.freshness)
		}
	}
}

func (v *Views) publish(at book.Digest, row *ViewRow, began freshness) {
	fresh := began
	if began.commit < v.expired {
		fresh.read = time.Time{}
	}
	a := v.account(row.Account.ID)
	if a.olderThan(began) {
		a.Account, a.freshness, a.counted = row.Account, fresh, 0
		// A row may have the tokens of a group that was committed and is not published yet.
		// Groups that write the row take turns, so one read before the commit has an earlier TAT.
		if a.writing.tokens > 0 && row.Account.tat >= a.writing.tat {
			a.counted = a.writing.tokens
		}
	}
	k := a.keys[row.Key.ID]
	if k == nil {
		k = &keyView{}
		a.keys[row.Key.ID] = k
	}
	if k.olderThan(began) {
		k.Key, k.freshness = row.Key, fresh
	}
	v.applyPending(a)
	if len(v.secrets) >= maxViews && v.secrets[at] == nil || len(v.accounts) > maxViews {
		v.evictIdle(a)
	}
	v.secrets[at] = &secretView{fresh, row.Expires, k, a}
}

func (v *Views) account(id int64) *accountView {
	a := v.accounts[id]
	if a == nil {
		a = &accountView{keys: map[int64]*keyView{}, keysInUse: map[Hash]Hash{}}
		v.accounts[id] = a
	}
	return a
}

func (v *Views) evictIdle(but *accountView) {
	idle := func(a *accountView) bool { return a != but && a.inProgress == 0 && len(a.pending) == 0 }
	maps.DeleteFunc(v.secrets, func(_ book.Digest, s *secretView) bool { return idle(s.account) })
	maps.DeleteFunc(v.accounts, func(_ int64, a *accountView) bool { return idle(a) })
}

func (v *Views) applyPending(a *accountView) {
	a.bucket = a.tat
	for _, k := range a.keys {
		k.bucket = k.tat
	}
	for _, t := range a.pending[a.counted:] {
		at := v.Clock.at(t.arrival)
		a.bucket, t.key.bucket = tatAfter(a.bucket, at, a.rate), tatAfter(t.key.bucket, at, t.key.rate)
	}
}

// Expire makes every view too old to be used. It is called after an operator's
// change.
func (v *Views) Expire() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.commits++
	v.expired = v.commits // queries in progress may have read older rows
	for _, s := range v.secrets {
		s.freshness = freshness{commit: v.commits}
	}
}

// Tallies beyond maxViews rows are dropped.
func (v *Views) addTally(at UsageAt, t book.Tally) {
	if _, known := v.tallies[at]; known || len(v.tallies) < maxViews {
		v.tallies[at] = v.tallies[at].Plus(t)
	}
}

// Counts are the sizes of what the views have now.
type Counts struct {
	InProgress int   // requests between Begin and End
	Waiting    int   // requests that wait for the database to commit again
	Secrets    int   // in memory
	Tallies    int   // of requests that were not charged, not yet recorded
	Undecided  int   // charges to give back with the next group
	Voided     int64 // charges that were given back
}

// Count returns the present sizes.
func (v *Views) Count() Counts {
	v.mu.Lock()
	defer v.mu.Unlock()
	return Counts{v.inProgress, v.waiting, len(v.secrets), len(v.tallies), len(v.voids), v.voided}
}

// RequestsOf returns the number of an account's requests in progress.
func (v *Views) RequestsOf(account int64) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	if a := v.accounts[account]; a != nil {
		return a.inProgress
	}
	return 0
}
