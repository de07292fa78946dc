package ledger

import (
	"log/slog"
	"math"
	"sync/atomic"
	"time"
)

// A clock estimates the database's time between transactions, from the last
// time that one of them read and the monotonic time since.
//
// It doubts jumps. A clock that was wrong for a moment would roll a month, and
// an account rolls forward only. So when the database's time differs from what
// is expected by more than maxJump, the clock goes on as expected until the
// new time has lasted for confirmAfter. A restart takes any time as given.
// Meanwhile no month begins that the database's clock has not reached: the time
// it is believed to be may be the wrong one, and an account that an operator has
// reset would be put ahead again.
type clock struct {
	monotonic   func() time.Time // readings are compared with Sub alone
	log         *slog.Logger
	trusted     atomic.Pointer[reading]
	suspect     *reading     // the first of a jump; nil without; the writer's alone
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

// wallOf drops Go's monotonic reading, by which two times of this machine
// would be compared otherwise.
func wallOf(t time.Time) time.Time { return t.Round(0) }

// now is the database's time as expected, and at that of an instant of the
// monotonic clock.
func (c *clock) now() time.Time                 { return c.at(c.monotonic()) }
func (c *clock) at(instant time.Time) time.Time { return c.trusted.Load().at(instant) }

// observe takes in a time that the database gave, and returns the time to
// decide by. It must not be called twice at a time.
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
		c.log.Warn("the database's clock jumped; until the new time has lasted for "+confirmAfter.String()+
			" or the service is restarted, the old one counts on", "from", expected.UTC(), "to", database.UTC())
	}
	c.latestMonth.Store(int64(monthOf(database)))
	return expected
}

// month is the month at a time, as far as it may have begun.
func (c *clock) month(now time.Time) month { return min(monthOf(now), month(c.latestMonth.Load())) }

func (c *clock) confirmed(database, instant time.Time) bool {
	return c.suspect != nil && near(database, c.suspect.at(instant)) && instant.Sub(c.suspect.instant) >= confirmAfter
}

func near(a, b time.Time) bool { return a.Sub(b).Abs() <= maxJump }

// warnAtStart compares the time at the start with the last month that was
// charged, 0 for none. It only warns: a service may have been off for long.
func (c *clock) warnAtStart(last month) {
	switch now := c.now(); {
	case last == 0:
	case monthOf(now) < last:
		c.log.Warn("the database's clock is behind a month that was charged: it is wrong, or was", "now", now.UTC(), "month", last.begin())
	case monthOf(now) > last+1:
		c.log.Warn("the database's clock is more than a month ahead of the last charge; if it is wrong, points are refilled too early", "now", now.UTC(), "month", last.begin())
	}
}
