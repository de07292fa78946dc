package ledger

import (
	"context"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

// views contains the recent state of accounts and keys, so that most requests are
// judged in memory (judge.go). Each view is a row of the database with the effect of
// the requests in progress on this replica, which the row does not have yet. Views
// only save work: the transaction that charges decides again.
//
// A row is published after a commit of this replica, or after a query. A query
// that began before an account's last commit was published may have read older
// rows, so it does not replace that commit's rows.
type views struct {
	mu         sync.Mutex
	clock      *clock
	secrets    map[book.Digest]*secretView
	accounts   map[int64]*accountView
	pending    map[*accountView]bool   // accounts with pending tokens
	tallies    map[usageKey]book.Tally // requests that were not charged, not yet recorded
	voids      []*chargeOp             // charges to give back with the next group
	voided     int64                   // charges that were given back
	commits    uint64                  // number of commits published, and of calls of expire
	expired    uint64                  // commits at the last call of expire
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

// freshness is how recent a row is.
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
	keyState
	bucket  int64 // the row's TAT after the pending tokens
	claimed int64 // points of requests in progress
}

type accountView struct {
	freshness
	accountState
	keys       map[int64]*keyView
	bucket     int64    // the row's TAT after the pending tokens
	pending    []*token // not yet in the database, by arrival
	writing    commitment
	counted    int   // the first of pending, which the row has already; see publish
	claimed    int64 // points of requests in progress
	inProgress int
	waiting    int   // see views
	freeBucket int64 // TAT of the requests that cost nothing, which the database does not have
	unpaid     unpaidWork
	keysInUse  map[recordID][32]byte // Idempotency-Keys of requests in progress, with the hashes of their bodies
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

func newViews(c *clock) *views {
	return &views{clock: c, secrets: map[book.Digest]*secretView{}, accounts: map[int64]*accountView{},
		pending: map[*accountView]bool{}, tallies: map[usageKey]book.Tally{}}
}

// age returns the age of the oldest row that judges a secret.
func (s *secretView) age(now time.Time) time.Duration {
	return max(now.Sub(s.read), now.Sub(s.key.read), now.Sub(s.account.read))
}

func (f *freshness) olderThan(began uint64, instant time.Time) bool {
	return f.commit <= began && !f.read.After(instant)
}

// publish stores a row read by a query that began at instant, after commit
// number began.
func (v *views) publish(at book.Digest, row *viewRow, began uint64, instant time.Time) {
	fresh := freshness{began, instant}
	if began < v.expired {
		fresh.read = time.Time{}
	}
	a := v.account(row.account.id)
	if a.olderThan(began, instant) {
		a.accountState, a.freshness, a.counted = row.account, fresh, 0
		// A row may have the tokens of a group that was committed and is not published yet.
		// Groups that write the row take turns, so one read before the commit has an earlier TAT.
		if a.writing.tokens > 0 && row.account.tat >= a.writing.tat {
			a.counted = a.writing.tokens
		}
	}
	k := a.key(row.key.id)
	if k.olderThan(began, instant) {
		k.keyState, k.freshness = row.key, fresh
	}
	v.applyPending(a)
	if len(v.secrets) >= maxViews && v.secrets[at] == nil || len(v.accounts) > maxViews {
		v.evictIdle(a)
	}
	v.secrets[at] = &secretView{fresh, row.expires, k, a}
}

func (v *views) account(id int64) *accountView {
	a := v.accounts[id]
	if a == nil {
		a = &accountView{keys: map[int64]*keyView{}, keysInUse: map[recordID][32]byte{}}
		v.accounts[id] = a
	}
	return a
}

func (a *accountView) key(id int64) *keyView {
	k := a.keys[id]
	if k == nil {
		k = &keyView{}
		a.keys[id] = k
	}
	return k
}

// evictIdle removes all accounts but one that have no request in progress and no
// pending token.
func (v *views) evictIdle(but *accountView) {
	idle := func(a *accountView) bool { return a != but && a.inProgress == 0 && len(a.pending) == 0 }
	for at, s := range v.secrets {
		if idle(s.account) {
			delete(v.secrets, at)
		}
	}
	for id, a := range v.accounts {
		if idle(a) {
			delete(v.accounts, id)
		}
	}
}

// applyPending computes the buckets from the rows and the pending tokens.
func (v *views) applyPending(a *accountView) {
	a.bucket = a.tat
	for _, k := range a.keys {
		k.bucket = k.tat
	}
	for _, t := range a.pending[a.counted:] {
		at := v.clock.at(t.arrival)
		a.bucket, t.key.bucket = tatAfter(a.bucket, at, a.rate), tatAfter(t.key.bucket, at, t.key.rate)
	}
}

// publishGroup stores the rows of a committed group and ends its operations.
func (v *views) publishGroup(ws *workingSet, group []operation) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.commits++
	fresh := freshness{v.commits, ws.instant}
	for id, row := range ws.accounts {
		if a := v.accounts[id]; a != nil {
			a.accountState, a.freshness = *row, fresh
		}
	}
	for id, row := range ws.keys {
		if a := v.accounts[row.account]; a != nil && a.keys[id] != nil {
			a.keys[id].keyState, a.keys[id].freshness = *row, fresh
		}
	}
	for at, expires := range ws.secrets {
		if s := v.secrets[at]; s != nil {
			s.expires, s.freshness = expires, fresh
		}
	}
	for _, op := range group {
		op.settle(v)
	}
	for id := range ws.accounts {
		if a := v.accounts[id]; a != nil {
			v.applyPending(a)
		}
	}
}

// expire makes every view too old to be used. It is called after an operator's
// change.
func (v *views) expire() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.commits++
	v.expired = v.commits // queries in progress may have read older rows
	for _, s := range v.secrets {
		s.freshness = freshness{commit: v.commits}
	}
}

// readStart returns the arguments of publish for a query that begins now.
func (v *views) readStart() (commits uint64, instant time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.commits, v.clock.monotonic()
}

// publishReads publishes the rows of a query and sets the records that its reads
// found. A secret without a row does not exist, so its view is removed.
func (v *views) publishReads(reads []*keyRead, rows map[book.Digest][]*viewRow, began uint64, instant time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, kr := range reads {
		found := rows[kr.secret]
		if len(found) == 0 {
			delete(v.secrets, kr.secret)
			continue
		}
		v.publish(kr.secret, found[0], began, instant)
		for _, row := range found {
			if row.record != nil && row.id == kr.record {
				kr.found = row.record
			}
		}
	}
}

// addTally adds to the tallies of requests that were not charged. Beyond maxViews
// rows it drops them.
func (v *views) addTally(at usageKey, t book.Tally) {
	if _, known := v.tallies[at]; known || len(v.tallies) < maxViews {
		v.tallies[at] = v.tallies[at].Plus(t)
	}
}

// maxWaiting bounds the requests that wait for the database to commit again, of which
// maxInProgress may be of one account.
const maxWaiting = 4096

// beginWait returns the account of a request that may wait for the database, until endWait;
// nil if it may not. Only a secret with a view may, so nobody without a key holds a place.
func (v *views) beginWait(at book.Digest) *accountView {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.secrets[at]
	if s == nil || v.waiting >= maxWaiting || s.account.waiting+s.account.inProgress >= maxInProgress {
		return nil
	}
	v.waiting++
	s.account.waiting++
	return s.account
}

func (v *views) endWait(a *accountView) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waiting--
	a.waiting--
}

// requestsOf returns the number of an account's requests in progress.
func (v *views) requestsOf(account int64) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	if a := v.accounts[account]; a != nil {
		return a.inProgress
	}
	return 0
}
