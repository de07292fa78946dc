// Package ledger keeps what must never be wrong: who may ask, how often, and
// what it costs. It holds accounts, keys, plans, points, rates, idempotency
// keys and the usage history, on SQLite or on PostgreSQL.
//
// One admission decides the key, the token bucket, the idempotency key and the
// points together, in that order, in one transaction. Admissions that arrive
// together are committed together: one writer takes what waits, loads the rows
// it concerns, decides in memory, writes what changed, commits once and only
// then answers. An answer that reports points is preceded by its commit.
//
// The database is the truth. Every batch reads it anew, so a key revoked or a
// plan changed by another process holds at the very next request.
//
// No key and no address stands in an error of this package.
//
// What it leaves out: HTTP statuses and headers (package api), what an
// idempotent answer contains (opaque bytes here), and mail.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// What an operation of the ledger can fail with. A refusal of a request is not
// an error but a Verdict.
var (
	// ErrUnavailable: the database did not take the transaction; nobody was
	// charged. The wrapped error says why.
	ErrUnavailable = errors.New("the ledger's database does not answer as it should")
	// ErrClosed: the ledger was closed before the request was taken up.
	ErrClosed = errors.New("the ledger is closed")
	// ErrLeaseLost: a retry took the idempotency key over while this request
	// was still at work; its charge has been given back.
	ErrLeaseLost = errors.New("a retry has taken this idempotency key over; the charge was given back")
	// ErrSettled: the admission was settled before.
	ErrSettled = errors.New("this admission is settled already")
)

// A Ledger is safe for use by many goroutines.
type Ledger struct {
	store store
	clock func() time.Time // for what is shown; decisions go by the transaction's
	lease time.Duration
	fence *fence

	queue chan *ticket
	owed  owed
	stats recorder

	changing sync.Mutex // held by an operator's change, of which there is one at a time

	mu     sync.RWMutex // held for reading while a ticket is put into queue
	closed bool
	done   chan struct{} // closed when the writer has ended
}

// Open opens the database that url names, brings its schema up to date and
// starts the writer. url is "sqlite:PATH" (the file and its folder are created
// when missing) or "postgres://…".
func Open(ctx context.Context, url string, options ...Option) (*Ledger, error) {
	o := defaults(options)
	s, err := openStore(ctx, url, o)
	if err != nil {
		return nil, err
	}
	l := &Ledger{
		store: s,
		clock: o.localClock(),
		lease: o.lease,
		fence: newFence(o.localClock()),
		queue: make(chan *ticket, queueLimit),
		done:  make(chan struct{}),
	}
	go newWriter(l).run()
	return l, nil
}

// Ping reports whether the database answers.
func (l *Ledger) Ping(ctx context.Context) error { return l.store.ping(ctx) }

// Close takes no more requests, commits those that wait and closes the database.
func (l *Ledger) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	close(l.queue)
	l.mu.Unlock()
	<-l.done
	err := l.store.close()
	if n := l.owed.len(); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d charges could not be given back: the database did not take them", n))
	}
	return err
}
