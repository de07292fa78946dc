package ledger

import (
	"sync"
	"time"
)

// Stats is what the writer has done since Open.
type Stats struct {
	Commits     int64         // transactions that succeeded, refusals alone included
	Failures    int64         // transactions that failed
	Operations  int64         // admissions and settlements that they decided
	Largest     int           // operations in the largest batch
	Busy        time.Duration // spent in transactions
	Slowest     time.Duration // the longest of them
	Fenced      int64         // requests refused without the database
	Waiting     int           // operations in the queue now
	OwedCharges int           // charges to give back as soon as the database takes it
}

type recorder struct {
	mu sync.Mutex
	Stats
}

func (r *recorder) committed(operations int, took time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Busy, r.Slowest = r.Busy+took, max(r.Slowest, took); err != nil {
		r.Failures++
		return
	}
	r.Commits++
	r.Operations += int64(operations)
	r.Largest = max(r.Largest, operations)
}

func (r *recorder) fenced() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Fenced++
}

// Stats returns what the writer has done since Open.
func (l *Ledger) Stats() Stats {
	l.stats.mu.Lock()
	s := l.stats.Stats
	l.stats.mu.Unlock()
	s.Waiting = len(l.queue)
	s.OwedCharges = l.owed.len()
	return s
}
