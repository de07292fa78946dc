package ledger

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// views contains the recent state of accounts and keys, so that most requests are
// judged in memory. Each view is a row of the database with the effect of the
// requests in progress on this replica, which the row does not have yet. Views
// only save work: the transaction that charges decides again.
//
// A row is published after a commit of this replica, or after a query. A query
// that began before an account's last commit was published may have read older
// rows, so it does not replace that commit's rows. See isExact for rows that need
// no query.
type views struct {
	mu         sync.Mutex
	clock      *clock
	secrets    map[digest]*secretView
	accounts   map[int64]*accountView
	pending    map[*accountView]bool // accounts with pending tokens
	tallies    map[usageKey]Tally    // requests that were not charged, not yet recorded
	locked     map[int64]*lockedAccount
	commits    uint64    // number of commits published, and of calls of expire
	expired    uint64    // commits at the last call of expire
	foreign    uint64    // commits when another connection's commit was last noticed, or possible
	alone      time.Time // when the last group read or confirmed the exact rows
	unviewed   uint64    // number of the last commit that changed a row without a view
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
	firm   bool      // it may be exact, see isExact
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
	request *Request
	wait    time.Duration // until there is a token, if the database refuses this one; used by the writer only
	refused time.Duration // wait, once the refusal is committed
}

func newViews(c *clock) *views {
	return &views{clock: c, secrets: map[digest]*secretView{}, accounts: map[int64]*accountView{},
		pending: map[*accountView]bool{}, tallies: map[usageKey]Tally{}, locked: map[int64]*lockedAccount{}}
}

// A lockedAccount is one that another session has locked, so that its operations are put
// off.
type lockedAccount struct {
	holder      int64     // the transaction that has locked it; 0 for one that has locked other rows
	hangs       bool      // the same transaction had the lock before
	until       time.Time // nothing is tried before
	since, seen time.Time // the holder had the lock first and last
	logged      bool
}

// lockMemory is how long an account counts as locked after it was found so. The writer
// tries it more often while it has something to write for it.
const lockMemory = 10 * tickEvery

// markLocked records which accounts a group found locked. It returns those that have
// been locked for waitLimit and were not returned before, and whether a lock has moved on.
func (v *views) markLocked(ws *workingSet) (long []int64, moved bool) {
	if len(ws.locked) == 0 {
		return nil, false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(v.locked, func(_ int64, a *lockedAccount) bool { return now.Sub(a.seen) > waitLimit })
	for id := range ws.locked {
		a, holder := v.lockedAccount(id), ws.holders[id]
		if a.hangs = a.seen.IsZero() || a.holder == holder; !a.hangs {
			a.since, moved = now, true
		}
		a.holder, a.seen = holder, now
		if !a.logged && now.Sub(a.since) > waitLimit {
			a.logged = true
			long = append(long, id)
		}
	}
	return long, moved
}

func (v *views) lockedAccount(id int64) *lockedAccount {
	a := v.locked[id]
	if a == nil {
		a = &lockedAccount{since: time.Now()}
		v.locked[id] = a
	}
	return a
}

// pause lets nothing be tried for an account for a while, since another session has locked
// rows of it other than the account's.
func (v *views) pause(id int64, d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.lockedAccount(id).until = time.Now().Add(d)
}

// lockedAccounts returns the accounts for which nothing is to be tried now, and those for
// whose locks a group is not to wait.
func (v *views) lockedAccounts() (paused, hanging map[int64]bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	paused, hanging = map[int64]bool{}, map[int64]bool{}
	for id, a := range v.locked {
		if time.Now().Before(a.until) {
			paused[id] = true
		}
		if a.hangs {
			hanging[id] = true
		}
	}
	return paused, hanging
}

// isPutOff reports whether a ticket of an account is not to be tried in a group. If only
// the lock of the account hangs, one ticket of it is, and is added to tried.
func (v *views) isPutOff(id int64, tried map[int64]bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	a := v.locked[id]
	if a == nil || !a.hangs && !time.Now().Before(a.until) {
		return false
	}
	first := !tried[id] && !time.Now().Before(a.until)
	tried[id] = true
	return !first
}

// countLocked returns the number of accounts that were found locked lately. v.mu is held.
func (v *views) countLocked() (n int) {
	for _, a := range v.locked {
		if time.Since(a.seen) < lockMemory {
			n++
		}
	}
	return n
}

// beginWait returns the account of a request that may wait for the database, until endWait;
// nil if it may not.
func (v *views) beginWait(at digest) *accountView {
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

// refusesLocked reports whether an account has been locked for so long that a request
// would work and wait in vain. Requests are admitted again when the account was not found
// locked lately, so that one of them tries.
func (v *views) refusesLocked(id int64) bool {
	a := v.locked[id]
	return a != nil && a.seen.Sub(a.since) > waitLimit && time.Since(a.seen) < lockMemory
}

// publish stores a row read by a query that began at instant, after commit
// number began.
func (v *views) publish(at digest, row *viewRow, began uint64, instant time.Time) {
	fresh := freshness{began, instant, began >= v.unviewed}
	if began < v.expired {
		fresh = freshness{commit: began}
	}
	a := v.account(row.account.id)
	if a.olderThan(began, instant) {
		a.accountState, a.freshness = row.account, fresh
		a.counted = a.writing.countedIn(row.account.tat)
	}
	k := a.key(row.key.id)
	if k.olderThan(began, instant) {
		k.keyState, k.freshness = row.key, fresh
	}
	v.applyPending(a)
	v.addSecret(at, &secretView{fresh, row.expires, k, a})
}

// countedIn returns how many pending tokens a row with TAT tat has already: those
// of a group that was committed, and is not published yet. Groups that write the
// row take turns, so one that was read before the commit has an earlier TAT.
func (c commitment) countedIn(tat int64) int {
	if c.tokens > 0 && tat >= c.tat {
		return c.tokens
	}
	return 0
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
	if len(v.secrets) >= maxViews && v.secrets[at] == nil || len(v.accounts) > maxViews {
		v.evictIdle(s.account)
	}
	v.secrets[at] = s
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

// publishGroup stores the rows of a committed group.
func (v *views) publishGroup(ws *workingSet) {
	v.commits++
	fresh := freshness{v.commits, ws.instant, true}
	v.alone = ws.instant
	for id, row := range ws.accounts {
		if !ws.locked[id] {
			delete(v.locked, id)
		}
		if a := v.accounts[id]; a != nil {
			a.accountState, a.freshness = *row, fresh
			a.changed = false
		} else if row.changed {
			v.unviewed = v.commits
		}
	}
	for id, row := range ws.keys {
		if a := v.accounts[row.account]; a != nil && a.keys[id] != nil {
			a.keys[id].keyState, a.keys[id].freshness = *row, fresh
			a.keys[id].changed = false
		} else if row.changed {
			v.unviewed = v.commits
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

// age returns the age of the oldest row that judges a secret.
func (v *views) age(s *secretView, now time.Time) time.Duration {
	return max(now.Sub(v.asOf(s.freshness)), now.Sub(v.asOf(s.key.freshness)), now.Sub(v.asOf(s.account.freshness)))
}

// judgeKey rolls the rows to the month of now and judges the key; s is nil if
// there is no such secret.
func (v *views) judgeKey(s *secretView, now time.Time, origin string) Kind {
	if s == nil {
		return UnknownKey
	}
	present := v.clock.month(now)
	s.account.roll(present)
	s.key.roll(present)
	return s.key.judge(&s.account.accountState, s.expires, now, origin)
}

// decision returns a decision with the account's usage, in which claimed points
// do not remain.
func (a *accountView) decision(kind Kind, wait time.Duration) Decision {
	return a.accountState.decision(kind, wait, a.claimed)
}

// addTally adds to the tallies of requests that were not charged. Beyond maxViews
// rows it drops them.
func (v *views) addTally(at usageKey, t Tally) {
	if _, known := v.tallies[at]; known || len(v.tallies) < maxViews {
		v.tallies[at] = v.tallies[at].Plus(t)
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
func (v *views) publishReads(reads []*keyRead, rows map[digest][]*viewRow, began uint64, instant time.Time) {
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

// A view is exact if it is what the database has. While no other connection
// commits, that is each row: only the writer changes rows, and publishes what it
// changes. On SQLite, where one process usually has the file, the store knows
// whether another connection has committed since the last group
// (store.Transaction.Alone). So a group reads only rows without an exact view, and
// confirms all exact ones, which then need no query after maxAccept.
//
// The row of a query is not exact if the query began before a group that changed
// a row without a view: the query may have read it before.

// isExact reports whether a row is exact.
func (v *views) isExact(f freshness) bool { return f.firm && f.commit > v.foreign }

// asOf returns the last instant at which a row is known to have been what the
// database had.
func (v *views) asOf(f freshness) time.Time {
	if v.isExact(f) && v.alone.After(f.read) {
		return v.alone
	}
	return f.read
}

// distrust makes all views inexact, until they are published again.
func (v *views) distrust() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.foreign = v.commits
}

// fill copies exact rows to the working set of a group and returns what is left
// to read. Without alone, another connection may have committed.
func (v *views) fill(ws *workingSet, rs *readSet, alone bool) *readSet {
	if !alone {
		v.distrust()
		return rs
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	left := &readSet{map[rowKey]bool{}, rs.records}
	for row := range rs.rows {
		if !v.copy(ws, row, true) {
			left.rows[row] = true
		}
	}
	return left
}

// maxGuessed is the most rows that are guessed. The round trip that a guess saves costs many
// charges together less than the server takes to compare their rows.
const maxGuessed = 8

// mayBeGuessed reports whether the rows are few, and no record is known to be there: of
// records there are no views.
func (rs *readSet) mayBeGuessed() bool {
	for _, there := range rs.records {
		if there {
			return false
		}
	}
	return 0 < len(rs.rows) && len(rs.rows) <= maxGuessed
}

// guess copies the rows of a group to its working set, exact or not, and returns the
// statements that expect them, and that the records of new batches are not there. It returns
// none if one has no view.
func (v *views) guess(ws *workingSet, rs *readSet) (expected []store.Statement) {
	v.distrust()
	v.mu.Lock()
	defer v.mu.Unlock()
	list := make([][4]any, 0, len(rs.rows))
	for row := range rs.rows {
		if !v.copy(ws, row, false) {
			return nil
		}
		list = append(list, ws.expected(row))
	}
	rows := []any{asJSON(list)}
	expected = []store.Statement{{Name: "lock_accounts", Args: rows}, {Name: "expect_rows", Args: rows}}
	if len(rs.records) > 0 {
		expected = append(expected, store.Statement{Name: "expect_no_answers", Args: []any{rs.recordsAsJSON()}})
	}
	return expected
}

// expected returns a row as the query read_rows takes it, and then returns it.
func (ws *workingSet) expected(row rowKey) [4]any {
	hash, k := "", ws.keys[row.key]
	if row.secret != (digest{}) {
		hash = row.secret.hex()
	}
	if k == nil { // as read_rows returns none
		k = &keyState{budget: Unlimited, rate: Unlimited}
	}
	columns := append(ws.accounts[row.account].columns(), k.columns()...)
	return [4]any{row.account, row.key, hash, append(columns, hash, ws.secrets[row.secret])}
}

// copy copies an account, its key and its secret, if all that row names have views, which
// are exact if that is asked. A view that was rolled to another month since is not what the
// database has.
func (v *views) copy(ws *workingSet, row rowKey, exact bool) bool {
	fits := func(f freshness) bool { return !exact || v.isExact(f) }
	a := v.accounts[row.account]
	if a == nil || a.changed || !fits(a.freshness) {
		return false
	}
	k, s := a.keys[row.key], v.secrets[row.secret]
	if row.key != 0 && (k == nil || k.changed || !fits(k.freshness)) {
		return false
	}
	if row.secret != (digest{}) && (s == nil || s.key != k || !fits(s.freshness)) {
		return false
	}
	if ws.accounts[row.account] == nil { // another row of the group may have copied it
		state := a.accountState
		ws.accounts[row.account] = &state
	}
	if row.key != 0 && ws.keys[row.key] == nil {
		state := k.keyState
		ws.keys[row.key] = &state
	}
	if row.secret != (digest{}) {
		ws.secrets[row.secret] = s.expires
	}
	return true
}

// policyCache has recent policies, so that few requests read one from the database. What it
// has of an account is used as long as the view of the account has the same number of
// changes, so a change applies when that of a key would.
type policyCache struct {
	query   func(context.Context, store.Statement) error
	reading chan struct{} // has an element for each query in progress
	mu      sync.Mutex
	entries map[policyKey]*policyRead
	bytes   int64 // of the documents
}

// policyKey identifies a policy.
type policyKey struct {
	account int64
	name    string
}

// Bounds of the policies in memory, of all accounts.
const (
	maxCachedPolicies = 4096
	maxCachedBytes    = 32 << 20
)

func newPolicyCache(query func(context.Context, store.Statement) error) *policyCache {
	return &policyCache{query: query, reading: make(chan struct{}, maxQueries), entries: map[policyKey]*policyRead{}}
}

// find returns a policy as it was after that many changes of the account, or later. Requests
// that need the same policy at the same time share a query.
func (c *policyCache) find(ctx context.Context, at policyKey, changes int64) (*Policy, error) {
	if p := c.get(at, changes); p != nil {
		return p, nil
	}
	select {
	case c.reading <- struct{}{}:
		defer func() { <-c.reading }()
	case <-ctx.Done():
		return nil, unavailable(errTimeout)
	}
	if p := c.get(at, changes); p != nil {
		return p, nil
	}
	read := policyRead{account: at.account, name: at.name}
	if err := c.query(ctx, read.read()); err != nil {
		return nil, unavailable(err)
	}
	read.accepted = new(atomic.Value)
	c.put(at, &read)
	if !read.found {
		return nil, ErrNoPolicy
	}
	return &read.Policy, nil
}

func (c *policyCache) get(at policyKey, changes int64) *Policy {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[at]; e != nil && e.changes >= changes {
		return &e.Policy
	}
	return nil
}

// put replaces what the cache has of a policy. If it is full, it forgets others.
func (c *policyCache) put(at policyKey, read *policyRead) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.forget(at); !read.found {
		return
	}
	for other := range c.entries {
		if len(c.entries) < maxCachedPolicies && c.bytes+read.Size <= maxCachedBytes {
			break
		}
		c.forget(other)
	}
	c.entries[at] = read
	c.bytes += read.Size
}

func (c *policyCache) forget(at policyKey) {
	if e := c.entries[at]; e != nil {
		c.bytes -= e.Size
		delete(c.entries, at)
	}
}
