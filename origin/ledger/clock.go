package ledger

import (
	"fmt"
	"strconv"
	"strings"
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

// A month is a calendar month in UTC, counted from January of year 0.
type month int64

func monthOf(t time.Time) month {
	t = t.UTC()
	return month(t.Year()*12 + int(t.Month()) - 1)
}

// begin returns the month's first instant.
func (m month) begin() time.Time {
	return time.Date(int(m/12), time.Month(m%12)+1, 1, 0, 0, 0, 0, time.UTC)
}

// A Day is a day in UTC, counted from 1970-01-01.
type Day int64

// DayOf returns the day of t.
func DayOf(t time.Time) Day {
	const seconds = 24 * 60 * 60
	s := t.Unix()
	if s < 0 {
		s -= seconds - 1
	}
	return Day(s / seconds)
}

// ParseDay parses a day in ISO 8601 form, such as 2026-11-20.
func ParseDay(s string) (Day, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a day such as 2026-11-20", s)
	}
	return DayOf(t), nil
}

// Time returns the day's first instant.
func (d Day) Time() time.Time { return time.Unix(int64(d)*24*60*60, 0).UTC() }

// String returns the day in ISO 8601 form.
func (d Day) String() string { return d.Time().Format(time.DateOnly) }

// maxExpiryDays is the most days of ParseExpiry, a century.
const maxExpiryDays = 36_500

// ParseExpiry parses when a key expires: after a number of days, such as 90d, or
// at the beginning of a day (UTC), such as 2027-01-31. It returns the zero time
// for "" and "never".
func ParseExpiry(text string, now time.Time) (time.Time, error) {
	if text == "" || text == "never" {
		return time.Time{}, nil
	}
	if number, ok := strings.CutSuffix(text, "d"); ok {
		days, err := strconv.Atoi(number)
		if err != nil || strconv.Itoa(days) != number || days < 1 || days > maxExpiryDays {
			return time.Time{}, fmt.Errorf("the expiry %q must be 1d to %dd", text, maxExpiryDays)
		}
		return now.AddDate(0, 0, days), nil
	}
	day, err := ParseDay(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("the expiry %q is neither a number of days such as 90d nor a day such as 2027-01-31", text)
	}
	return day.Time(), nil
}
