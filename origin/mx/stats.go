package mx

import (
	"sync/atomic"
	"time"
)

// Stats is what a [Resolver] has done since it was made. All but InFlight,
// Waiting and Entries only grow.
type Stats struct {
	Hits   uint64 // look-ups answered from the cache
	Misses uint64 // look-ups that asked or waited to
	Shared uint64 // look-ups that joined one already asking
	Stale  uint64 // answers served past their TTL

	// How the look-ups that asked ended. One that all its callers left has no
	// outcome.
	Found, None, Timeouts, Failures uint64
	Spent                           time.Duration // asking, by all of them together

	Refused uint64 // look-ups refused because too many wait
	Expired uint64 // waits that ended without a slot

	UDP, TCP uint64 // queries sent
	Ignored  uint64 // datagrams passed over: forged, late, or no DNS message

	InFlight int // look-ups asking or waiting to
	Waiting  int // for a slot, once for each account that waits for the look-up
	Entries  int // domains in the cache
}

// Stats returns the counters. Each is exact; together they are not of one
// instant.
func (r *Resolver) Stats() Stats {
	c := &r.counters
	underWay, waiting := r.flights.count()
	return Stats{
		Hits: c.hits.Load(), Misses: c.misses.Load(), Shared: c.shared.Load(), Stale: c.stale.Load(),
		Found: c.found.Load(), None: c.none.Load(), Timeouts: c.timeouts.Load(), Failures: c.failures.Load(),
		Spent: time.Duration(c.spent.Load()),
		UDP:   c.udp.Load(), TCP: c.tcp.Load(), Ignored: c.ignored.Load(),
		Refused: c.refused.Load(), Expired: c.expired.Load(),
		InFlight: underWay, Waiting: waiting, Entries: r.cache.size(),
	}
}

type counters struct {
	hits, misses, shared, stale     atomic.Uint64
	spent                           atomic.Int64
	found, none, timeouts, failures atomic.Uint64
	refused, expired                atomic.Uint64
	udp, tcp, ignored               atomic.Uint64
}

// began counts a look-up that the cache did not answer.
func (c *counters) countMiss(first bool) {
	if first {
		c.misses.Add(1)
	} else {
		c.shared.Add(1)
	}
}

// outcome counts the end of a look-up; no kind means no error.
func (c *counters) countOutcome(mx bool, kind Kind, spent time.Duration) {
	c.spent.Add(int64(spent))
	switch {
	case kind == Timeout:
		c.timeouts.Add(1)
	case kind == Failure:
		c.failures.Add(1)
	case mx:
		c.found.Add(1)
	default:
		c.none.Add(1)
	}
}
