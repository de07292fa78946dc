package ledger

import "time"

// An account is one row of the batch at hand: what its plan allows and what
// it has used. Its methods decide; they know no database and no clock.
type account struct {
	id      int64
	rate    int64 // requests a second, or Unlimited
	points  int64 // points a month, or Unlimited
	overage bool

	month month // the month that used belongs to
	used  int64
	tat   int64 // state of the token bucket, see take

	changed bool
}

// roll refills the account when a month has begun that it has not seen. It
// goes forward only: when the clock is set back, the account stays in the
// later month, so that no month is refilled twice.
func (a *account) roll(m month) {
	if m > a.month {
		a.month, a.used, a.changed = m, 0, true
	}
}

// takeToken takes a token, or returns how long to wait for one. A refusal is
// kept too when it has brought the TAT back to a clock that was set back:
// otherwise the bucket would be found just as empty at each further request.
func (a *account) takeToken(now time.Time) time.Duration {
	tat, wait := take(a.tat, now.UnixNano(), a.rate)
	if wait == 0 || tat != a.tat {
		a.tat, a.changed = tat, true
	}
	return wait
}

// charge uses points, unless they are too few.
func (a *account) charge(points int64) bool {
	if !a.overage && a.points != Unlimited && points > a.points-a.used {
		return false
	}
	a.used += points
	a.changed = true
	return true
}

// refund gives back points that were charged in m. When m is over, its points
// no longer count and nothing is left to do here.
func (a *account) refund(points int64, m month) {
	if a.month == m {
		a.used -= points
		a.changed = true
	}
}

// remaining is what is left of the month's points without overage.
func (a *account) remaining() int64 {
	if a.points == Unlimited {
		return Unlimited
	}
	return max(a.points-a.used, 0)
}

func (a *account) usage() Usage {
	return Usage{
		Current: a.used,
		Limit:   a.points,
		Overage: a.overage && a.points != Unlimited && a.used > a.points,
	}
}

// day is the day that the account's points are written down under: today, or
// the first of the account's month where the clock was set back behind it, so
// that a month's days sum to the month's points.
func (a *account) day(now time.Time) Day {
	return max(DayOf(now), DayOf(a.month.begin()))
}
