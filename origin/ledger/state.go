package ledger

import (
	"strings"
	"time"
)

// An accountState is the row of an account: its limits and what it has used. Its
// methods are pure decisions, without database or clock.
type accountState struct {
	id          int64
	rate        int64 // requests a second, or Unlimited
	points      int64 // points a month, or Unlimited
	overage     bool
	storedLimit int64 // bytes of idempotency records allowed
	suspended   bool

	consumption
	stored int64 // bytes of idempotency records
}

// A keyState is the row of a key.
type keyState struct {
	id, account int64
	rate        int64 // requests a second, within the account's, or Unlimited
	budget      int64 // points a month, within the account's, or Unlimited
	revoked     bool
	expires     int64  // Unix time in nanoseconds; 0 for never
	origins     string // of browser pages that may use the key, separated by spaces; "" if it is not bound to any

	consumption
}

// columns returns the fields in the order in which all queries in
// store/*/queries.sql select them.
func (a *accountState) columns() []any {
	return []any{&a.id, &a.month, &a.used, &a.tat, &a.stored, &a.suspended, &a.points, &a.rate, &a.overage, &a.storedLimit}
}

// columns does the same for a key.
func (k *keyState) columns() []any {
	return []any{&k.id, &k.revoked, &k.expires, &k.budget, &k.rate, &k.origins, &k.month, &k.used, &k.tat}
}

// consumption is what an account or a key has used.
type consumption struct {
	month month // the month of used
	used  int64 // points
	tat   int64 // state of the token bucket, see takeToken

	changed bool
}

// roll moves to month m, with nothing used, if m is later. A clock that is set
// back leaves the later month in place, so that no month is refilled twice.
func (c *consumption) roll(m month) {
	if m > c.month {
		c.month, c.used, c.changed = m, 0, true
	}
}

func (c *consumption) charge(points int64) {
	c.used += points
	c.changed = true
}

// void gives back a charge of month m. If m is over, there is nothing to do. The
// result is at least 0, since an operator may have lowered used meanwhile.
func (c *consumption) void(points int64, m month) {
	if c.month == m {
		c.used = max(0, c.used-points)
		c.changed = true
	}
}

func (a *accountState) addStored(bytes int64) {
	a.stored = max(0, a.stored+bytes)
	a.changed = true
}

// shortfall returns how many of the points are missing if requests under way
// have claimed some. A request for 0 points lacks none, also beyond the limit.
func (a *accountState) shortfall(points, claimed int64) int64 {
	if points == 0 || a.overage || a.points == Unlimited {
		return 0
	}
	return max(0, a.used+claimed+points-a.points)
}

// shortfall does the same for the key's budget.
func (k *keyState) shortfall(points, claimed int64) int64 {
	if points == 0 || k.budget == Unlimited {
		return 0
	}
	return max(0, k.used+claimed+points-k.budget)
}

// remaining returns what is left of the month's points, without overage.
func (a *accountState) remaining(claimed int64) int64 {
	if a.points == Unlimited {
		return Unlimited
	}
	return max(a.points-a.used-claimed, 0)
}

// remaining returns what is left of the key's budget.
func (k *keyState) remaining(claimed int64) int64 {
	if k.budget == Unlimited {
		return Unlimited
	}
	return max(k.budget-k.used-claimed, 0)
}

// minLimit returns the smaller of two limits.
func minLimit(a, b int64) int64 {
	if a == Unlimited || b != Unlimited && b < a {
		return b
	}
	return a
}

func (a *accountState) usage() *Usage {
	return &Usage{
		Current: a.used,
		Limit:   a.points,
		Overage: a.overage && a.points != Unlimited && a.used > a.points,
	}
}

// decision returns a decision with the account's usage.
func (a *accountState) decision(verdict Verdict, wait time.Duration) Decision {
	return Decision{Verdict: verdict, Usage: a.usage(), Remaining: a.remaining(0), RetryAfter: wait}
}

// day returns the day to record points under: today, or the day of the account's
// month closest to it if the clock is suspect or was set back. The days of a
// month therefore sum to the month's points.
func (a *accountState) day(now time.Time) Day {
	first, last := DayOf(a.month.begin()), DayOf((a.month+1).begin())-1
	return min(max(DayOf(now), first), last)
}

// judge returns Good if a request with the header Origin, "" if it has none, may
// use the key.
func (k *keyState) judge(a *accountState, secretExpires int64, now time.Time, origin string) Verdict {
	switch {
	case !k.usable(a, secretExpires, now):
		return UnknownKey
	case !k.admits(origin):
		return WrongOrigin
	}
	return Good
}

// usable reports whether a key may be used: it is not revoked, neither it nor the
// secret has expired by now, and the account is not suspended.
func (k *keyState) usable(a *accountState, secretExpires int64, now time.Time) bool {
	over := func(expires int64) bool { return expires != 0 && now.UnixNano() >= expires }
	return !k.revoked && !a.suspended && !over(k.expires) && !over(secretExpires)
}

// admits reports whether the key may be used from the origin. RFC 6454 section 5 compares origins; both are serialised, so equal
// origins are equal strings.
func (k *keyState) admits(origin string) bool { return k.origins == "" || k.names(origin) }

// names reports whether the key is bound to the origin.
func (k *keyState) names(origin string) bool {
	for bound := range strings.SplitSeq(k.origins, " ") {
		if bound != "" && bound == origin {
			return true
		}
	}
	return false
}
