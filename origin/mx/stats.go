package mx

import (
	"sync/atomic"
	"time"
)

// Stats has the counters of a [Resolver] since New, and three gauges: InFlight,
// Waiting and Entries. A flight is one DNS look-up, shared by its callers.
type Stats struct {
	Hits   uint64 // look-ups answered from the cache
	Misses uint64 // look-ups that started a flight
	Shared uint64 // look-ups that joined a flight
	Stale  uint64 // answers served past their TTL

	// Outcomes of flights. A flight that all its callers left has none.
	Found, None, Timeouts, Failures uint64
	Spent                           time.Duration // running, the sum of all flights

	Refused uint64 // look-ups refused because too many wait
	Expired uint64 // waits that ended without a slot

	UDP, TCP uint64 // queries sent
	Ignored  uint64 // datagrams ignored: forged, late, or not DNS

	InFlight int // flights that run or wait for a slot
	Waiting  int // queue entries: flights that wait, counted once for each account
	Entries  int // domains in the cache, of which some may have expired
}

// Stats returns the statistics. Each is exact, but they are not read at one
// instant.
func (r *Resolver) Stats() Stats {
	c := &r.counters
	underWay, waiting := r.flights.count()
	return Stats{
		Hits: c.hits.load(), Misses: c.misses.Load(), Shared: c.shared.Load(), Stale: c.stale.Load(),
		Found: c.found.Load(), None: c.none.Load(), Timeouts: c.timeouts.Load(), Failures: c.failures.Load(),
		Spent: time.Duration(c.spent.Load()),
		UDP:   c.udp.Load(), TCP: c.tcp.Load(), Ignored: c.ignored.Load(),
		Refused: c.refused.Load(), Expired: c.expired.Load(),
		InFlight: underWay, Waiting: waiting, Entries: r.cache.size(),
	}
}

type counters struct {
	hits                            spreadCounter
	misses, shared, stale           atomic.Uint64
	spent                           atomic.Int64
	found, none, timeouts, failures atomic.Uint64
	refused, expired                atomic.Uint64
	udp, tcp, ignored               atomic.Uint64
}

// countMiss counts a look-up that the cache did not answer; first is false if it
// joined a flight.
func (c *counters) countMiss(first bool) {
	if first {
		c.misses.Add(1)
	} else {
		c.shared.Add(1)
	}
}

// countOutcome counts the outcome of a flight; kind is 0 without an error.
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
