package host

import (
	"sync/atomic"
	"time"
)

// Stats are the counters of an Engine since New, over all its views.
type Stats struct {
	Calls   int64         // acquired instances: checks, and one per new view
	Waits   int64         // calls that waited for a free instance
	Waited  time.Duration // total duration of the waits
	Trapped int64         // instances discarded after a trap
	Whole   bool          // a call needed a function that checks usually do not call
}

// Stats returns the counters. Each is exact, but they are not read at the same
// instant.
func (e *Engine) Stats() Stats {
	c := &e.counters
	return Stats{c.calls.Load(), c.waits.Load(), time.Duration(c.waited.Load()), c.trapped.Load(), e.program.needWhole.Load()}
}

type counters struct{ calls, waits, waited, trapped atomic.Int64 }
