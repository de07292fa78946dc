package host

import (
	"sync/atomic"
	"time"
)

// Stats is what an Engine has done since New, over all its views.
type Stats struct {
	Calls   int64         // checks and other calls of the module
	Waits   int64         // calls that had to wait for a free instance
	Waited  time.Duration // how long, in all
	Trapped int64         // instances thrown away after a trap
}

// Stats returns the counters. Each is exact; together they are not of one
// instant.
func (e *Engine) Stats() Stats {
	c := &e.counters
	return Stats{c.calls.Load(), c.waits.Load(), time.Duration(c.waited.Load()), c.trapped.Load()}
}

type counters struct{ calls, waits, waited, trapped atomic.Int64 }
