package ledger

import (
	"fmt"
	"time"
)

// A month counts calendar months in UTC from January of year 0.
type month int64

func monthOf(t time.Time) month {
	t = t.UTC()
	return month(t.Year()*12 + int(t.Month()) - 1)
}

// begin is the month's first instant.
func (m month) begin() time.Time {
	return time.Date(int(m/12), time.Month(m%12)+1, 1, 0, 0, 0, 0, time.UTC)
}

// A Day counts days in UTC from 1970-01-01.
type Day int64

// DayOf is the day, in UTC, that t lies in.
func DayOf(t time.Time) Day {
	const seconds = 24 * 60 * 60
	s := t.Unix()
	if s < 0 {
		s -= seconds - 1
	}
	return Day(s / seconds)
}

// ParseDay reads a day as ISO 8601 writes it, such as 2026-11-20.
func ParseDay(s string) (Day, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a day: write it as 2026-11-20", s)
	}
	return DayOf(t), nil
}

// Time is the day's first instant.
func (d Day) Time() time.Time { return time.Unix(int64(d)*24*60*60, 0).UTC() }

// String writes the day as ISO 8601 does.
func (d Day) String() string { return d.Time().Format(time.DateOnly) }
