package ledger

import (
	"log/slog"
	"math"
	"sync/atomic"
	"time"
)

// A clock estimates the database's time between transactions: the last time that
// a transaction read, plus the monotonic time since.
//
// It does not follow a jump at once, because a database clock that is wrong for a
// moment would roll accounts to another month, and an account rolls forward only.
// If the database's time differs from the expected time by more than maxJump, the
// clock continues from the expected time until the new time has lasted for
// confirmAfter. Meanwhile no month begins that the database's clock has not
// reached: the expected time may be the wrong one, and an account that an operator
// has reset would roll ahead again. At the start any time is trusted.
type clock struct {
	monotonic   func() time.Time // readings are compared with Sub alone
	log         *slog.Logger
	trusted     atomic.Pointer[reading]
	suspect     *reading     // the first after a jump, nil if none; used by the writer only
	latestMonth atomic.Int64 // the last month that may begin now
}

const (
	maxJump      = 24 * time.Hour
	confirmAfter = time.Hour
)

// A reading is the database's time at an instant of the monotonic clock.
type reading struct{ database, instant time.Time }

func newClock(database time.Time, monotonic func() time.Time, log *slog.Logger) *clock {
	c := &clock{monotonic: monotonic, log: log}
	c.latestMonth.Store(math.MaxInt64)
	c.trusted.Store(&reading{wallOf(database), monotonic()})
	return c
}

func (r *reading) at(instant time.Time) time.Time { return r.database.Add(instant.Sub(r.instant)) }

// wallOf strips Go's monotonic clock reading, which Sub would otherwise use for
// two times of this machine.
func wallOf(t time.Time) time.Time { return t.Round(0) }

// now returns the estimate of the database's time.
func (c *clock) now() time.Time { return c.at(c.monotonic()) }

// at returns the estimate for an instant of the monotonic clock.
func (c *clock) at(instant time.Time) time.Time { return c.trusted.Load().at(instant) }

// observe records a time read from the database and returns the time to decide
// by. It is not safe for concurrent use.
func (c *clock) observe(database time.Time) time.Time {
	instant := c.monotonic()
	database = wallOf(database)
	expected := c.trusted.Load().at(instant)
	switch {
	case near(database, expected), c.confirmed(database, instant):
		c.suspect = nil
		c.latestMonth.Store(math.MaxInt64)
		c.trusted.Store(&reading{database, instant})
		return database
	case c.suspect == nil || !near(database, c.suspect.at(instant)):
		c.suspect = &reading{database, instant}
		c.log.Warn("the database's clock jumped; the ledger continues from the old time until the new one has lasted for "+
			confirmAfter.String()+" or the service is restarted", "from", expected.UTC(), "to", database.UTC())
	}
	c.latestMonth.Store(int64(monthOf(database)))
	return expected
}

// month returns the month of now, or the last one that may have begun.
func (c *clock) month(now time.Time) month { return min(monthOf(now), month(c.latestMonth.Load())) }

func (c *clock) confirmed(database, instant time.Time) bool {
	return c.suspect != nil && near(database, c.suspect.at(instant)) && instant.Sub(c.suspect.instant) >= confirmAfter
}

func near(a, b time.Time) bool { return a.Sub(b).Abs() <= maxJump }

// warnAtStart compares the time at the start with the last month that was
// charged, 0 for none. It only warns, because a service may have been off for
// months.
func (c *clock) warnAtStart(last month) {
	switch now := c.now(); {
	case last == 0:
	case monthOf(now) < last:
		c.log.Warn("the database's clock is behind the last month that was charged: it is wrong now, or was then", "now", now.UTC(), "month", last.begin())
	case monthOf(now) > last+1:
		c.log.Warn("the database's clock is more than a month ahead of the last charge; if it is wrong, points refill too early", "now", now.UTC(), "month", last.begin())
	}
}
