package book

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Month is a calendar month in UTC, counted from January of year 0.
type Month int64

// MonthOf returns the month of t.
func MonthOf(t time.Time) Month {
	t = t.UTC()
	return Month(t.Year()*12 + int(t.Month()) - 1)
}

// Begin returns the month's first instant.
func (m Month) Begin() time.Time {
	return time.Date(int(m/12), time.Month(m%12)+1, 1, 0, 0, 0, 0, time.UTC)
}

// A Day is a day in UTC, counted from 1970-01-01.
type Day int64

const daySeconds = 24 * 60 * 60

// DayOf returns the day of t, which must not be before 1970.
func DayOf(t time.Time) Day { return Day(t.Unix() / daySeconds) }

// ParseDay parses a day in ISO 8601 form, such as 2026-11-20.
func ParseDay(s string) (Day, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a day such as 2026-11-20", s)
	}
	return DayOf(t), nil
}

// Time returns the day's first instant.
func (d Day) Time() time.Time { return time.Unix(int64(d)*daySeconds, 0).UTC() }

// String returns the day in ISO 8601 form.
func (d Day) String() string { return d.Time().Format(time.DateOnly) }

const maxExpiryDays = 36_500 // a century

// ParseExpiry parses when a key expires: after a number of days, such as 90d, or at the beginning
// of a day (UTC), such as 2027-01-31. It returns the zero time for "" and "never".
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
	if day.Time().IsZero() { // which would be never
		return time.Time{}, fmt.Errorf("the expiry %q is over", text)
	}
	return day.Time(), nil
}

// A unixTime scans a Unix time in nanoseconds. 0 is the zero time.
type unixTime struct{ to *time.Time }

// Scan implements sql.Scanner.
func (t unixTime) Scan(value any) error {
	ns, ok := value.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", value)
	}
	*t.to = time.Time{}
	if ns != 0 {
		*t.to = time.Unix(0, ns).UTC()
	}
	return nil
}
