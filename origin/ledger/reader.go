package ledger

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A reader asks the database for views. Requests that ask at the same time
// share a query, which only reads: a key that nobody made costs a part of a
// SELECT, and no transaction's number.
type reader struct {
	*Ledger
	mu      sync.Mutex
	waiting []*keyRead
	running int // queries
}

// A question is one secret and one idempotency record of its account; a
// record's ID of zeros is none.
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
	maxWaitingReads = 4096 // questions that wait
)

var errBusy = errors.New("too many requests wait for a query")

// read publishes what the database knows of the secret, and returns the
// record, or nil. The query begins after the call. It waits for at most patience,
// others' queries included.
func (q *reader) read(ctx context.Context, secret digest, id recordID, patience time.Duration) (*record, error) {
	kr := &keyRead{secret: secret, record: id, done: make(chan struct{})}
	if !q.enqueue(kr) {
		return nil, unavailable(errBusy)
	}
	timer := time.NewTimer(patience)
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

// run asks until nobody waits.
func (q *reader) run() {
	for batch := q.next(); batch != nil; batch = q.next() {
		err := q.load(batch)
		for _, kr := range batch {
			kr.err = err
			close(kr.done)
		}
	}
}

func (q *reader) next() []*keyRead {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), maxReads)
	if n == 0 {
		q.running--
		return nil
	}
	batch := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	return batch
}

// ask runs one query and publishes the rows.
func (q *reader) load(batch []*keyRead) error {
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	pairs := make([][2]string, len(batch))
	for i, kr := range batch {
		pairs[i] = [2]string{kr.secret.hex(), kr.record.hex()}
	}
	began, instant := q.views.readStart()
	rows := map[digest][]*viewRow{}
	err := q.query(ctx, store.Statement{Name: "read_view", Args: []any{asJSON(pairs)}, Scan: func(r store.Row) error {
		at, row, err := scanViewRow(r)
		rows[at] = append(rows[at], &row)
		return err
	}})
	if err != nil {
		return err
	}
	q.stats.query()
	q.views.publishReads(batch, rows, began, instant)
	return nil
}

// A viewRow is what the ledger knows of a secret, with one record of its account.
type viewRow struct {
	expires int64 // of the secret
	key     keyState
	account accountState
	id      recordID // of the record that was asked for
	record  *record  // nil without
}

// scanViewRow reads a row of read_view.
func scanViewRow(r store.Row) (at digest, v viewRow, err error) {
	var hash, id string
	var body *string
	var x record
	columns := append([]any{&hash, &id, &v.expires}, v.key.columns()...)
	columns = append(append(columns, v.account.columns()...), &body, &x.answer, &x.expires)
	if err = r.Scan(columns...); err != nil {
		return at, v, err
	}
	if v.key.account = v.account.id; body != nil {
		v.record = &x
		err = fromHex(x.body[:], *body)
	}
	return at, v, errors.Join(err, fromHex(at[:], hash), fromHex(v.id[:], id))
}
