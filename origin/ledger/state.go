package ledger

import "time"

// An accountState is the row of an account: what it may use and what it has
// used. Its methods decide; they know no database and no clock.
type accountState struct {
	id          int64
	rate        int64 // requests a second, or Unlimited
	points      int64 // points a month, or Unlimited
	overage     bool
	storedLimit int64 // bytes of idempotency records that may be stored
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
	expires     int64 // Unix time in nanoseconds; 0 is never

	consumption
}

// columns are in the order in which every query lists them
// (store/*/queries.sql); those of a key likewise.
func (a *accountState) columns() []any {
	return []any{&a.id, &a.month, &a.used, &a.tat, &a.stored, &a.suspended, &a.points, &a.rate, &a.overage, &a.storedLimit}
}

func (k *keyState) columns() []any {
	return []any{&k.id, &k.revoked, &k.expires, &k.budget, &k.rate, &k.month, &k.used, &k.tat}
}

// consumption is what an account or a key has used.
type consumption struct {
	month month // that used belongs to
	used  int64
	tat   int64 // state of the token bucket, see take

	changed bool
}

// roll begins a month that was not seen before, with nothing used. It goes
// forward only: when the clock is set back the later month goes on, so that no
// month is refilled twice.
func (c *consumption) roll(m month) {
	if m > c.month {
		c.month, c.used, c.changed = m, 0, true
	}
}

func (c *consumption) charge(points int64) {
	c.used += points
	c.changed = true
}

// void takes a charge of month m back. An operator may have changed used in
// between, so it is bounded; when m is over, its points count no more.
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

// short is how many points are missing for a price, where others under way
// hold claimed. What costs nothing is never short of points.
func (a *accountState) shortfall(price, claimed int64) int64 {
	if price == 0 || a.overage || a.points == Unlimited {
		return 0
	}
	return max(0, a.used+claimed+price-a.points)
}

func (k *keyState) shortfall(price, claimed int64) int64 {
	if price == 0 || k.budget == Unlimited {
		return 0
	}
	return max(0, k.used+claimed+price-k.budget)
}

// remaining is what is left of the month's points without overage.
func (a *accountState) remaining(claimed int64) int64 {
	if a.points == Unlimited {
		return Unlimited
	}
	return max(a.points-a.used-claimed, 0)
}

// remaining is what is left of the key's budget.
func (k *keyState) remaining(claimed int64) int64 {
	if k.budget == Unlimited {
		return Unlimited
	}
	return max(k.budget-k.used-claimed, 0)
}

// least is the smaller of two limits.
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

// decision answers with what the row says.
func (a *accountState) decision(verdict Verdict, wait time.Duration) Decision {
	return Decision{Verdict: verdict, Usage: a.usage(), Remaining: a.remaining(0), RetryAfter: wait}
}

// day is the day that points are recorded under: today, or the day of the
// account's month that is next to it where the clock is doubted or was set back,
// so that the days of a month sum to the month's points.
func (a *accountState) day(now time.Time) Day {
	first, last := DayOf(a.month.begin()), DayOf((a.month+1).begin())-1
	return min(max(DayOf(now), first), last)
}

// good reports whether a key may be used: neither the key nor the secret has
// expired by now, nothing was revoked and the account is not suspended.
func (k *keyState) usable(a *accountState, secretExpires int64, now time.Time) bool {
	over := func(expires int64) bool { return expires != 0 && now.UnixNano() >= expires }
	return !k.revoked && !a.suspended && !over(k.expires) && !over(secretExpires)
}
