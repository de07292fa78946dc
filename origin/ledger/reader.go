package ledger

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/commit"
	"github.com/addrspec/addrspec/origin/ledger/state"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A reader reads views from the database. Requests that read at the same time
// share a query. It is a plain SELECT, so an unknown key costs a part of one and
// no transaction ID.
type reader struct {
	store   store.Store
	views   *state.Views
	timing  *commit.Timing
	mu      sync.Mutex
	waiting []*keyRead
	running int          // queries
	reads   atomic.Int64 // queries since Open
}

// A keyRead is one request's read: a secret and an idempotency record of its
// account, or zeros for no record.
type keyRead struct {
	secret book.Digest
	record state.Hash
	done   chan struct{} // closed once found and err are set
	found  *state.Record
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
func (q *reader) read(ctx context.Context, secret book.Digest, record state.Hash,
	limit time.Duration) (*state.Record, error) {
	kr := &keyRead{secret: secret, record: record, done: make(chan struct{})}
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
		return nil, store.Unavailable(state.ErrLate)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

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

func (q *reader) load(reads []*keyRead) error {
	ctx, cancel := context.WithTimeout(context.Background(), q.timing.Wait)
	defer cancel()
	pairs, rows := make([][2]string, len(reads)), map[book.Digest]*state.ViewRow{}
	for i, kr := range reads {
		pairs[i] = [2]string{kr.secret.Hex(), kr.record.Hex()}
		rows[kr.secret] = nil
	}
	type found struct{ secret, record state.Hash }
	records := map[found]*state.Record{}
	began := q.views.BeginQuery()
	scan := func(r store.Row) error {
		var at found
		row, x := &state.ViewRow{}, &state.Record{}
		columns := append([]any{&at.secret, &at.record, &row.Expires}, row.Key.Columns()...)
		columns = append(append(columns, row.Account.Columns()...), &x.Body, &x.Response, &x.Expires)
		err := r.Scan(columns...)
		row.Key.Account = row.Account.ID
		rows[book.Digest(at.secret)] = row
		if x.Expires != 0 {
			records[at] = x
		}
		return err
	}
	err := q.store.Query(ctx, store.Statement{Name: "read_view", Args: []any{store.JSON(pairs)}, Scan: scan})
	if err != nil {
		return store.Unavailable(err)
	}
	q.reads.Add(1)
	q.views.EndQuery(began, rows)
	for _, kr := range reads {
		kr.found = records[found{state.Hash(kr.secret), kr.record}]
	}
	return nil
}
