package ledger

import (
	"sync/atomic"
	"time"
)

// A clock estimates the database's time between transactions: the last time that
// a transaction read, plus the monotonic time since.
type clock struct {
	monotonic func() time.Time // readings are compared with Sub alone
	last      atomic.Pointer[reading]
}

// A reading is the database's time at an instant of the monotonic clock.
type reading struct{ database, instant time.Time }

func newClock(database time.Time, monotonic func() time.Time) *clock {
	c := &clock{monotonic: monotonic}
	c.observe(database)
	return c
}

// observe records a time read from the database, and returns it with the instant. Round strips
// Go's monotonic reading, which Sub would otherwise use for two times of this machine.
func (c *clock) observe(database time.Time) reading {
	r := reading{database.Round(0), c.monotonic()}
	c.last.Store(&r)
	return r
}

// now returns the estimate of the database's time.
func (c *clock) now() time.Time { return c.at(c.monotonic()) }

// at returns the estimate for an instant of the monotonic clock.
func (c *clock) at(instant time.Time) time.Time {
	r := c.last.Load()
	return r.database.Add(instant.Sub(r.instant))
}
