package mx

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// firstQuery is the first query of a flight. It usually settles the look-up, so the
// goroutine that begins the flight also waits for the reply: starting another one for
// that took half of a look-up's processor time. It waits no longer than until the
// second query is due or until it is interrupted, then a [hedgedQuery] takes the query
// over.
type firstQuery struct {
	mu          sync.Mutex
	query       *udpQuery
	waits       bool // a goroutine waits for the reply
	interrupted bool // it shall not, or no longer
}

// askFirst sends the first query of f and waits for its reply. It reports whether that
// has the answer.
func (r *Resolver) askFirst(ctx context.Context, f *flight) (a answer, settled bool) {
	u := r.sendUDP(r.firstServer(), newQuestion(f.name+".", dns.TypeMX))
	f.first.query = u
	if !u.finished {
		r.waitFirst(ctx, f, u)
	}
	if !u.finished || u.err != nil || u.reply.Truncated {
		return answer{}, false
	}
	a, err := decide(u.reply, u.name)
	if err != nil || a.target != "" {
		return answer{}, false
	}
	f.first.take().close()
	return a, true
}

// waitFirst waits for the reply until the second query is due, ctx ends, or the wait is
// interrupted.
func (r *Resolver) waitFirst(ctx context.Context, f *flight, u *udpQuery) {
	if !f.first.begin(u.sent.Add(min(r.hedge, r.timeout))) {
		return
	}
	if ctx.Done() != nil {
		defer context.AfterFunc(ctx, f.first.interrupt)()
	}
	defer f.first.end()
	r.receive(u)
	if errors.Is(u.err, os.ErrDeadlineExceeded) {
		u.finished, u.err = false, nil
	}
}

// begin begins a wait until a deadline, if that is not interrupted already.
func (q *firstQuery) begin(until time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.interrupted {
		return false
	}
	q.waits = true
	_ = q.query.conn.SetReadDeadline(until)
	return true
}

// interrupt ends the wait, or prevents it.
func (q *firstQuery) interrupt() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.interrupted = true
	if q.waits {
		_ = q.query.conn.SetReadDeadline(past)
	}
}

// end ends the wait and removes the deadline. An interrupt that comes later has no
// effect on who waits then.
func (q *firstQuery) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waits = false
	_ = q.query.conn.SetReadDeadline(time.Time{})
}

// take returns the query, which the caller has to close.
func (q *firstQuery) take() *udpQuery {
	u := q.query
	q.query = nil
	return u
}
