package ledger

import (
	"sync"
	"time"
)

// The views are what this replica knows of accounts and keys without asking
// the database, so that most requests are judged in memory. They only save
// work: the transaction that charges decides. Beside each row they hold what
// requests under way on this replica mean for it, which no row has yet.
//
// Rows are published after a commit of this replica, or after a query. A query
// that began before the last commit of an account ended may have read older
// rows, so it does not replace newer ones.
type views struct {
	mu       sync.Mutex
	clock    *clock
	secrets  map[digest]*secretView
	accounts map[int64]*accountView
	pending  map[*accountView]bool // accounts with tokens to post
	tallies  map[usageKey]Tally    // requests that were not charged, to be recorded
	commits  uint64                // published so far
	expired  uint64                // commits when expire was called last
	underWay int
}

// maxViews is how many secrets are remembered. Only secrets that exist are.
const maxViews = 1 << 16

// A view older than maxAccept is not used at all. One older than maxRefuse
// refuses nobody: a raised limit holds at once.
const (
	maxAccept = time.Second
	maxRefuse = 50 * time.Millisecond
)

// freshness says how new a row is.
type freshness struct {
	commit uint64    // that published it, 0 for a query
	read   time.Time // instant of the monotonic clock
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
	bucket  int64 // the row's TAT with tokens not yet posted
	claimed int64 // points
}

type accountView struct {
	freshness
	accountState
	keys      map[int64]*keyView
	bucket    int64    // the row's TAT with tokens not yet posted
	pending   []*token // not yet posted, by arrival
	claimed   int64    // points
	underWay  int
	unpaid    unpaidWork
	keysInUse map[recordID][32]byte // bodies of requests under way with an Idempotency-Key
}

// A token was taken by a request when it arrived.
type token struct {
	arrival time.Time // instant of the monotonic clock
	key     *keyView
	keyID   int64
	request *Request
	wait    time.Duration // for another token, if the database refuses this one; the writer's alone
	refused time.Duration // the same once that is committed
}

func newViews(c *clock) *views {
	return &views{clock: c, secrets: map[digest]*secretView{}, accounts: map[int64]*accountView{},
		pending: map[*accountView]bool{}, tallies: map[usageKey]Tally{}}
}

// publish takes in a row that a query which began after commit number began
// has read; instant is when it began.
func (v *views) publish(at digest, row *viewRow, began uint64, instant time.Time) {
	fresh := freshness{read: instant}
	if began < v.expired {
		fresh.read = time.Time{}
	}
	a := v.account(row.account.id)
	if a.olderThan(began, instant) {
		a.accountState, a.freshness = row.account, fresh
	}
	k := a.key(row.key.id)
	if k.olderThan(began, instant) {
		k.keyState, k.freshness = row.key, fresh
	}
	v.applyPending(a)
	v.addSecret(at, &secretView{fresh, row.expires, k, a})
}

func (f *freshness) olderThan(began uint64, instant time.Time) bool {
	return f.commit <= began && !f.read.After(instant)
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

func (v *views) addSecret(at digest, s *secretView) {
	if len(v.secrets) >= maxViews && v.secrets[at] == nil {
		v.evictIdle(s.account)
	}
	v.secrets[at] = s
}

// forgetIdle makes room: it forgets every account that nothing is under way for.
func (v *views) evictIdle(but *accountView) {
	idle := func(a *accountView) bool { return a != but && a.underWay == 0 && len(a.pending) == 0 }
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

// fold brings the buckets up to the rows and the tokens not yet posted.
func (v *views) applyPending(a *accountView) {
	a.bucket = a.tat
	for _, k := range a.keys {
		k.bucket = k.tat
	}
	for _, t := range a.pending {
		at := v.clock.at(t.arrival)
		a.bucket, t.key.bucket = tatAfter(a.bucket, at, a.rate), tatAfter(t.key.bucket, at, t.key.rate)
	}
}

// committed takes in the rows of a transaction that was committed; instant is
// when it read the clock.
func (v *views) publishGroup(ws *workingSet) {
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
	for id := range ws.accounts {
		if a := v.accounts[id]; a != nil {
			v.applyPending(a)
		}
	}
}

// expire makes every view too old to be used, after a change by an operator.
func (v *views) expire() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.commits++
	v.expired = v.commits // a query under way may have read what was before
	for _, s := range v.secrets {
		s.freshness = freshness{commit: v.commits}
	}
}

// age is that of the oldest row by which a secret is judged.
func (s *secretView) age(now time.Time) time.Duration {
	return max(now.Sub(s.read), now.Sub(s.key.read), now.Sub(s.account.read))
}

// good rolls the rows into the month of now and reports whether the key may be
// used.
func (v *views) usable(s *secretView, now time.Time) bool {
	present := v.clock.month(now)
	s.account.roll(present)
	s.key.roll(present)
	return s.key.usable(&s.account.accountState, s.expires, now)
}

// decision answers with what the view knows of the account.
func (a *accountView) decision(verdict Verdict, wait time.Duration) Decision {
	return Decision{Verdict: verdict, Usage: a.usage(), Remaining: a.remaining(a.claimed), RetryAfter: wait}
}

// tally adds to what is to be recorded of requests that were not charged.
func (v *views) addTally(at usageKey, t Tally) {
	if _, known := v.tallies[at]; known || len(v.tallies) < maxViews {
		v.tallies[at] = v.tallies[at].plus(t)
	}
}

// begin returns what publish wants to know of the beginning of a query.
func (v *views) readStart() (commits uint64, instant time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.commits, v.clock.monotonic()
}

// learn publishes the rows of a query and answers its questions.
func (v *views) publishReads(batch []*keyRead, rows map[digest][]*viewRow, began uint64, instant time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, kr := range batch {
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
