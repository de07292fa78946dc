package ledger

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A workingSet is the rows that a commit group concerns, as its transaction read
// them under locks, and what the group's decisions change.
type workingSet struct {
	now     time.Time // by the database's clock
	instant time.Time // the same time by the monotonic clock
	month   month     // of now

	avoided  map[int64]bool  // accounts for whose locks the transaction did not wait
	free     map[int64]bool  // those of them that it has locked
	holders  map[int64]int64 // the transactions that have locked the others
	locked   map[int64]bool  // accounts that another session has locked; nothing is decided about them
	accounts map[int64]*accountState
	keys     map[int64]*keyState
	secrets  map[digest]int64 // expiry, Unix time in nanoseconds; 0 for never
	records  map[recordKey]*record
	usage    map[usageKey]Tally
	writes   []store.Statement // of idempotency records, and of the probe
	changes  bool              // the transaction wrote something
}

// A recordKey identifies an idempotency record.
type recordKey struct {
	account int64
	id      recordID
}

// A usageKey identifies a row of the usage history.
type usageKey struct {
	account, key int64
	day          Day
}

// A readSet is the rows and records that the operations of a group need.
type readSet struct {
	rows    map[rowKey]bool
	records map[recordKey]bool // whether it is known to be there
}

// A rowKey identifies an account, one of its keys or 0, and one of the key's
// secrets or zeros.
type rowKey struct {
	account, key int64
	secret       digest
}

func readSetOf(group []operation) *readSet {
	rs := &readSet{map[rowKey]bool{}, map[recordKey]bool{}}
	for _, op := range group {
		op.addReads(rs)
	}
	return rs
}

func newWorkingSet() *workingSet {
	return &workingSet{
		avoided:  map[int64]bool{},
		free:     map[int64]bool{},
		holders:  map[int64]int64{},
		locked:   map[int64]bool{},
		accounts: map[int64]*accountState{},
		keys:     map[int64]*keyState{},
		secrets:  map[digest]int64{},
		records:  map[recordKey]*record{},
		usage:    map[usageKey]Tally{},
	}
}

// reads returns the statements that lock and load the read set. The lock of an
// account also protects its keys and records. They do not wait for the locks of accounts
// to avoid, of all in a hurry.
func (ws *workingSet) reads(rs *readSet, avoid map[int64]bool, hurry bool) []store.Statement {
	var list []store.Statement
	if len(rs.rows) > 0 {
		rows := []any{rs.rowsAsJSON()}
		list = []store.Statement{{Name: "lock_accounts", Args: rows}}
		if hurry || len(avoid) > 0 {
			list = ws.lockFree(rs, avoid, hurry)
		}
		list = append(list, store.Statement{Name: "read_rows", Args: rows, Scan: ws.scanRow})
	}
	if len(rs.records) > 0 {
		list = append(list, store.Statement{Name: "read_answers", Args: []any{rs.recordsAsJSON()}, Scan: ws.scanRecord})
	}
	return list
}

// recordsAsJSON returns the records as an array of pairs.
func (rs *readSet) recordsAsJSON() string {
	ids := make([][2]any, 0, len(rs.records))
	for at := range rs.records {
		ids = append(ids, [2]any{at.account, at.id.hex()})
	}
	return asJSON(ids)
}

// rowsAsJSON returns the rows as an array of triples. Numbers and hexadecimal
// digits need no escapes.
func (rs *readSet) rowsAsJSON() string {
	list := []byte{'['}
	for row := range rs.rows {
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(append(list, '['), row.account, 10)
		list = strconv.AppendInt(append(list, ','), row.key, 10)
		list = append(list, `,"`...)
		if row.secret != (digest{}) {
			list = hex.AppendEncode(list, row.secret[:])
		}
		list = append(list, `"]`...)
	}
	return string(append(list, ']'))
}

// lockFree returns the statements that lock accounts to avoid only if they are free. They
// follow those that wait: a transaction that waits for no further lock is in no deadlock.
func (ws *workingSet) lockFree(rs *readSet, avoid map[int64]bool, hurry bool) []store.Statement {
	wait, free := [][]int64{}, [][]int64{}
	for row := range rs.rows {
		if hurry || avoid[row.account] {
			ws.avoided[row.account] = true
			free = append(free, []int64{row.account})
		} else {
			wait = append(wait, []int64{row.account})
		}
	}
	return []store.Statement{
		{Name: "lock_accounts", Args: []any{asJSON(wait)}},
		{Name: "lock_free_accounts", Args: []any{asJSON(free)}, Scan: ws.scanFree},
		{Name: "read_lock_holders", Args: []any{asJSON(free)}, Scan: ws.scanHolder},
	}
}

// limitLockWait returns the statement that bounds each wait of a transaction for a lock.
func limitLockWait(d time.Duration) store.Statement {
	return store.Statement{Name: "limit_lock_wait", Args: []any{strconv.FormatInt(d.Milliseconds(), 10)}}
}

func (ws *workingSet) scanFree(r store.Row) error {
	var account int64
	err := r.Scan(&account)
	ws.free[account] = true
	return err
}

func (ws *workingSet) scanHolder(r store.Row) error {
	var account, holder int64
	err := r.Scan(&account, &holder)
	if !ws.free[account] {
		ws.holders[account] = holder
	}
	return err
}

// findLocked adds the accounts to locked that exist and were avoided and not free, and
// drops their rows.
func (ws *workingSet) findLocked() {
	for id := range ws.avoided {
		if ws.accounts[id] != nil && !ws.free[id] {
			ws.locked[id] = true
			delete(ws.accounts, id)
		}
	}
	if len(ws.locked) == 0 {
		return
	}
	maps.DeleteFunc(ws.keys, func(_ int64, k *keyState) bool { return ws.accounts[k.account] == nil })
}

// split splits a group into what may be decided and what concerns locked accounts.
func (ws *workingSet) split(group []operation) (free, locked []operation) {
	if len(ws.locked) == 0 {
		return group, nil
	}
	for _, op := range group {
		if ws.locked[op.concerns()] {
			locked = append(locked, op)
		} else {
			free = append(free, op)
		}
	}
	return free, locked
}

// accountOf returns the account of a statement that writes, 0 for none.
func (ws *workingSet) accountOf(st *store.Statement) int64 {
	switch st.Name {
	case "put_account", "add_usage", "put_answer", "delete_answer":
		return st.Args[0].(int64)
	case "put_key":
		return ws.keys[st.Args[0].(int64)].account
	}
	return 0
}

func (ws *workingSet) scanRow(r store.Row) error {
	a, k := &accountState{}, &keyState{}
	var hash string
	var expires int64
	if err := r.Scan(append(append(a.columns(), k.columns()...), &hash, &expires)...); err != nil {
		return err
	}
	if ws.accounts[a.id] == nil {
		ws.accounts[a.id] = a
	}
	if k.account = a.id; k.id != 0 && ws.keys[k.id] == nil {
		ws.keys[k.id] = k
	}
	if hash == "" {
		return nil
	}
	var at digest
	err := fromHex(at[:], hash)
	ws.secrets[at] = expires
	return err
}

func (ws *workingSet) scanRecord(r store.Row) error {
	var at recordKey
	var id, body string
	x := &record{}
	if err := r.Scan(&at.account, &id, &body, &x.response, &x.size, &x.expires); err != nil {
		return err
	}
	if err := fromHex(at.id[:], id); err != nil {
		return err
	}
	ws.records[at] = x
	return fromHex(x.body[:], body)
}

// addTally adds to the usage history.
func (ws *workingSet) addTally(at usageKey, t Tally) { ws.usage[at] = ws.usage[at].Plus(t) }

// putRecord stores a record, in place of an expired one if there is one.
func (ws *workingSet) putRecord(at recordKey, x *record) {
	ws.deleteRecord(at)
	ws.records[at] = x
	ws.accounts[at.account].addStored(x.size)
	ws.writes = append(ws.writes, store.Statement{Name: "put_answer",
		Args: []any{at.account, at.id.hex(), digest(x.body).hex(), x.response, x.size, x.expires}})
}

// deleteRecord deletes an expired record, if it is there.
func (ws *workingSet) deleteRecord(at recordKey) {
	if x := ws.records[at]; x != nil {
		delete(ws.records, at)
		ws.accounts[at.account].addStored(-x.size)
		ws.writes = append(ws.writes, store.Statement{Name: "delete_answer", Args: []any{at.account, at.id.hex()}})
	}
}

// statements returns the statements that write what the decisions changed.
func (ws *workingSet) statements() []store.Statement {
	list := ws.writes
	for _, a := range ws.accounts {
		if a.changed {
			list = append(list, store.Statement{Name: "put_account", Args: []any{a.id, int64(a.month), a.used, a.tat, a.stored}})
		}
	}
	for _, k := range ws.keys {
		if k.changed {
			list = append(list, store.Statement{Name: "put_key", Args: []any{k.id, int64(k.month), k.used, k.tat}})
		}
	}
	for at, t := range ws.usage {
		f := t.Found
		list = append(list, store.Statement{Name: "add_usage", Args: []any{at.account, at.key, int64(at.day), t.Points, t.Requests, t.Errors,
			f.Valid, f.Invalid, f.Disposable, f.Public, f.Relay, f.Role, f.Gibberish, f.Typo, f.LookupErrors}})
	}
	return list
}

// asJSON encodes a list as the argument of a query.
func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and strings of our own: cannot fail
	}
	return string(data)
}

func fromHex(dst []byte, s string) error {
	if hex.DecodedLen(len(s)) != len(dst) {
		return errors.New("a hash in the database has the wrong length")
	}
	_, err := hex.Decode(dst, []byte(s))
	return err
}

// A reader reads views from the database. Requests that read at the same time
// share a query. It is a plain SELECT, so an unknown key costs a part of one and
// no transaction ID.
type reader struct {
	*Ledger
	mu      sync.Mutex
	waiting []*keyRead
	running int // queries
}

// A keyRead is one request's read: a secret and an idempotency record of its
// account, or zeros for no record.
type keyRead struct {
	secret digest
	record recordID
	done   chan struct{} // closed once found and err are set
	found  *record
	err    error
}

const (
	maxReads        = 1024 // in one query
	maxQueries      = 2    // at a time
	maxWaitingReads = 4096 // for a query
)

var errBusy = errors.New("too many requests wait for a query")

// read reads the rows of a secret, publishes them to the views and returns the
// record, or nil if there is none. Its query begins after the call. It waits for
// at most limit, which includes the queries before its own.
func (q *reader) read(ctx context.Context, secret digest, id recordID, limit time.Duration) (*record, error) {
	kr := &keyRead{secret: secret, record: id, done: make(chan struct{})}
	if !q.enqueue(kr) {
		return nil, unavailable(errBusy)
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-kr.done:
		return kr.found, kr.err
	case <-timer.C:
		return nil, unavailable(errTimeout)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (q *reader) enqueue(kr *keyRead) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= maxWaitingReads {
		return false
	}
	q.waiting = append(q.waiting, kr)
	if q.running < maxQueries {
		q.running++
		go q.run()
	}
	return true
}

// run runs queries until no read waits.
func (q *reader) run() {
	for reads := q.next(); reads != nil; reads = q.next() {
		err := q.load(reads)
		for _, kr := range reads {
			kr.err = err
			close(kr.done)
		}
	}
}

// next returns the reads of the next query, or nil if this goroutine is to end.
func (q *reader) next() []*keyRead {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), maxReads)
	if n == 0 {
		q.running--
		return nil
	}
	reads := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	return reads
}

// load runs one query and publishes its rows.
func (q *reader) load(reads []*keyRead) error {
	ctx, cancel := context.WithTimeout(context.Background(), q.wait)
	defer cancel()
	pairs := make([][2]string, len(reads))
	for i, kr := range reads {
		pairs[i] = [2]string{kr.secret.hex(), kr.record.hex()}
	}
	began, instant := q.views.readStart()
	rows := map[digest][]*viewRow{}
	err := q.store.Query(ctx, store.Statement{Name: "read_view", Args: []any{asJSON(pairs)}, Scan: func(r store.Row) error {
		at, row, err := scanViewRow(r)
		rows[at] = append(rows[at], &row)
		return err
	}})
	if err != nil {
		return unavailable(err)
	}
	q.stats.count(func(s *Stats) { s.Reads++ })
	q.views.publishReads(reads, rows, began, instant)
	return nil
}

// A viewRow is the row of a secret, its key and its account, with one record of
// the account.
type viewRow struct {
	expires int64 // of the secret
	key     keyState
	account accountState
	id      recordID // of the record that the read named
	record  *record  // nil if there is none
}

// scanViewRow scans a row of the query read_view.
func scanViewRow(r store.Row) (at digest, v viewRow, err error) {
	var hash, id string
	var body *string
	var x record
	columns := append([]any{&hash, &id, &v.expires}, v.key.columns()...)
	columns = append(append(columns, v.account.columns()...), &body, &x.response, &x.expires)
	if err = r.Scan(columns...); err != nil {
		return at, v, err
	}
	if v.key.account = v.account.id; body != nil {
		v.record = &x
		err = fromHex(x.body[:], *body)
	}
	return at, v, errors.Join(err, fromHex(at[:], hash), fromHex(v.id[:], id))
}
