package ledger

import (
	"fmt"
	"time"
)

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
