package ledger

import (
	"sync"
	"time"
)

// Stats are counters since Open and the current size of queues.
type Stats struct {
	Commits   int64         // transactions of the writer that succeeded
	Failures  int64         // transactions of the writer that failed
	Charges   int64         // charges in the transactions that succeeded
	Largest   int           // charges in the largest commit group
	Busy      time.Duration // time spent in the writer's transactions
	Slowest   time.Duration // the longest of them
	Reads     int64         // queries that read views
	Voided    int64         // charges given back because their caller had left
	Waiting   int           // tickets in the writer's queue now
	UnderWay  int           // requests between Begin and End now
	Views     int           // secrets in memory now
	Undecided int           // charges that the next commit group voids
}

// A statsRecorder counts the events of Stats.
type statsRecorder struct {
	mu sync.Mutex
	Stats
}

func (r *statsRecorder) transaction(group []operation, took time.Duration, err error) {
	charges := 0
	for _, op := range group {
		if _, ok := op.(*chargeOp); ok {
			charges++
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Busy, r.Slowest = r.Busy+took, max(r.Slowest, took); err != nil {
		r.Failures++
		return
	}
	r.Commits++
	r.Charges += int64(charges)
	r.Largest = max(r.Largest, charges)
}

func (r *statsRecorder) void() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Voided++
}

func (r *statsRecorder) undecided(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Undecided = n
}

func (r *statsRecorder) query() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Reads++
}

// Stats returns the counters and the current size of queues.
func (l *Ledger) Stats() Stats {
	l.stats.mu.Lock()
	s := l.stats.Stats
	l.stats.mu.Unlock()
	l.views.mu.Lock()
	defer l.views.mu.Unlock()
	s.Waiting, s.UnderWay, s.Views = len(l.writer.queue), l.views.underWay, len(l.views.secrets)
	return s
}
