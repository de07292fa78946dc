package ledger

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
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
	steady      time.Time    // the instant since which the time has not jumped; used by the writer only
	latestMonth atomic.Int64 // the last month that may begin now
}

const (
	maxJump      = 24 * time.Hour
	confirmAfter = time.Hour
)

// slack is how far the times of a database that has been set right may differ. A time that
// is stored and further ahead than what stores it allows is from a wrong clock.
const slack = time.Hour

// A reading is the database's time at an instant of the monotonic clock.
type reading struct{ database, instant time.Time }

func newClock(database time.Time, monotonic func() time.Time, log *slog.Logger) *clock {
	c := &clock{monotonic: monotonic, log: log}
	c.latestMonth.Store(math.MaxInt64)
	c.steady = monotonic()
	c.trusted.Store(&reading{wallOf(database), c.steady})
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
		if database.Sub(expected).Abs() > slack {
			c.steady = instant
		}
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

// Now returns the time of the database's clock, which decides when a month
// begins.
func (l *Ledger) Now(ctx context.Context) (time.Time, error) {
	now, err := l.store.Now(ctx)
	if err != nil {
		return time.Time{}, unavailable(err)
	}
	return now.UTC(), nil
}

// A Reset is the result of ResetAccount.
type Reset struct {
	Was, Is time.Time // first day of the account's month, before and after
	Used    int64     // points of that month, after
	Moved   int64     // points that the usage history had under future days
}

// ResetAccount sets the month of an account and its keys to the current month of
// the database's clock, and fills their token buckets. It repairs the effect of a
// wrong clock, since an account's month otherwise only advances. It returns
// ErrNoAccount if there is no such account.
//
// If the account is in the current month already, its points remain. Otherwise
// they are summed from the usage history. Usage recorded under future days
// happened before now, so it moves to today: the history still sums to the
// month's points, and no later month begins with points used.
func (l *Ledger) ResetAccount(ctx context.Context, account int64) (r Reset, err error) {
	var ws *workingSet
	rs := &readSet{rows: map[rowKey]bool{{account: account}: true}}
	reads := func() []store.Statement {
		ws = newWorkingSet()
		return ws.reads(rs, nil, false)
	}
	err = l.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
		a := ws.accounts[account]
		if a == nil {
			return nil, ErrNoAccount
		}
		present := monthOf(now)
		r = Reset{Was: a.month.begin(), Is: present.begin()}
		return append(r.statements(account, present, now), Audit(ctx, account, now, "account.reset", present.begin().Format("2006-01"))...), nil
	})
	return r, err
}

func (r *Reset) statements(account int64, present month, now time.Time) []store.Statement {
	today := int64(DayOf(now))
	args := []any{account, int64(present), int64(DayOf(present.begin())), now.UnixNano()}
	return []store.Statement{
		{Name: "sum_future_usage", Args: []any{account, today}, Scan: func(row store.Row) error { return row.Scan(&r.Moved) }},
		{Name: "move_future_usage", Args: []any{account, today}},
		{Name: "delete_future_usage", Args: []any{account, today}},
		{Name: "reset_account", Args: args, Scan: func(row store.Row) error { return row.Scan(&r.Used) }},
		{Name: "reset_keys", Args: args},
	}
}
