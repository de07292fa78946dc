package ledger

import (
	"sync"
	"time"
)

// Stats are counters since Open and the current size of queues.
type Stats struct {
	Commits    int64         // transactions of the writer that succeeded
	Failures   int64         // transactions of the writer that failed
	Charges    int64         // charges in the transactions that succeeded
	Largest    int           // charges in the largest commit group
	Busy       time.Duration // time spent in the writer's transactions
	Slowest    time.Duration // the longest of them
	Reads      int64         // queries that read views
	Voided     int64         // charges given back because their caller had left
	Waiting    int           // tickets in the writer's queue now
	InProgress int           // requests between Begin and End now
	Views      int           // secrets in memory now
	Undecided  int           // charges that the next commit group voids
	LockWaits  int64         // commit groups that waited in vain for a lock
	Locked     int           // accounts that another session has locked, as far as the writer has tried lately
}

// A statsRecorder counts the events of Stats.
type statsRecorder struct {
	mu sync.Mutex
	Stats
}

// count changes the counters.
func (r *statsRecorder) count(event func(*Stats)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	event(&r.Stats)
}

// Stats returns the counters and the current size of queues.
func (l *Ledger) Stats() Stats {
	l.stats.mu.Lock()
	s := l.stats.Stats
	l.stats.mu.Unlock()
	l.views.mu.Lock()
	defer l.views.mu.Unlock()
	s.Waiting, s.InProgress, s.Views = len(l.writer.queue), l.views.inProgress, len(l.views.secrets)
	s.Undecided, s.Voided = len(l.views.voids), l.views.voided
	return s
}
