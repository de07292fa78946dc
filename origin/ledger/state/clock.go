package state

import (
	"sync/atomic"
	"time"
)

// A Clock estimates the database's time between transactions: the last time that
// a transaction read, plus the monotonic time since.
type Clock struct {
	monotonic func() time.Time // readings are compared with Sub alone
	last      atomic.Pointer[reading]
}

// A reading is the database's time at an instant of the monotonic clock.
type reading struct{ database, instant time.Time }

// NewClock returns a clock by a reading of the database's.
func NewClock(database time.Time, monotonic func() time.Time) *Clock {
	c := &Clock{monotonic: monotonic}
	c.Observe(database)
	return c
}

// Observe records a time read from the database, and returns it with the instant. Round strips
// Go's monotonic reading, which Sub would otherwise use for two times of this machine.
func (c *Clock) Observe(now time.Time) (database, instant time.Time) {
	r := &reading{now.Round(0), c.monotonic()}
	c.last.Store(r)
	return r.database, r.instant
}

// Now returns the estimate of the database's time.
func (c *Clock) Now() time.Time { return c.at(c.monotonic()) }

func (c *Clock) at(instant time.Time) time.Time {
	r := c.last.Load()
	return r.database.Add(instant.Sub(r.instant))
}
