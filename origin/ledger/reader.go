package ledger

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A reader reads views from the database. Requests that read at the same time
// share a query. It is a plain SELECT, so an unknown key costs a part of one and
// no transaction ID.
type reader struct {
	store   store.Store
	views   *views
	stats   *statsRecorder
	timing  *timing
	mu      sync.Mutex
	waiting []*keyRead
	running int // queries
}

// A keyRead is one request's read: a secret and an idempotency record of its
// account, or zeros for no record.
type keyRead struct {
	secret book.Digest
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
func (q *reader) read(ctx context.Context, secret book.Digest, id recordID, limit time.Duration) (*record, error) {
	kr := &keyRead{secret: secret, record: id, done: make(chan struct{})}
	q.mu.Lock()
	if len(q.waiting) >= maxWaitingReads {
		q.mu.Unlock()
		return nil, store.Unavailable(errBusy)
	}
	q.waiting = append(q.waiting, kr)
	if q.running < maxQueries {
		q.running++
		go q.run()
	}
	q.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-kr.done:
		return kr.found, kr.err
	case <-timer.C:
		return nil, store.Unavailable(errTimeout)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run runs queries until no read waits.
func (q *reader) run() {
	for {
		q.mu.Lock()
		n := min(len(q.waiting), maxReads)
		reads := q.waiting[:n:n]
		q.waiting = q.waiting[n:]
		if n == 0 {
			q.running--
		}
		q.mu.Unlock()
		if n == 0 {
			return
		}
		err := q.load(reads)
		for _, kr := range reads {
			kr.err = err
			close(kr.done)
		}
	}
}

// load runs one query and publishes its rows.
func (q *reader) load(reads []*keyRead) error {
	ctx, cancel := context.WithTimeout(context.Background(), q.timing.wait)
	defer cancel()
	pairs := make([][2]string, len(reads))
	for i, kr := range reads {
		pairs[i] = [2]string{kr.secret.Hex(), kr.record.hex()}
	}
	began, instant := q.views.readStart()
	rows := map[book.Digest][]*viewRow{}
	err := q.store.Query(ctx, store.Statement{Name: "read_view", Args: []any{store.JSON(pairs)}, Scan: func(r store.Row) error {
		at, row, err := scanViewRow(r)
		rows[at] = append(rows[at], &row)
		return err
	}})
	if err != nil {
		return store.Unavailable(err)
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
func scanViewRow(r store.Row) (at book.Digest, v viewRow, err error) {
	var hash, id string
	var body *string
	var x record
	columns := append([]any{&hash, &id, &v.expires}, v.key.columns()...)
	columns = append(append(columns, v.account.columns()...), &body, &x.response, &x.expires)
	if err = r.Scan(columns...); err != nil {
		return at, v, err
	}
	v.key.account = v.account.id
	if body != nil {
		v.record = &x
		err = fromHex(x.body[:], *body)
	}
	return at, v, errors.Join(err, fromHex(at[:], hash), fromHex(v.id[:], id))
}
