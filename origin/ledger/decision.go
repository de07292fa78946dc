package ledger

import (
	"errors"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

// Errors of requests. A request that is refused gets a Decision and no error.
var (
	// ErrUndecided means that the database has not confirmed the commit in time.
	// If it was committed, the charge remains if it has an Idempotency-Key and a
	// stored response; otherwise the next commit group voids it, unless the process
	// ends first.
	ErrUndecided = errors.New("the ledger's database has not confirmed the charge in time")
	// ErrRecord means that the database rejects this account's own rows; nothing
	// was charged.
	ErrRecord = errors.New("the ledger cannot record this charge")
	// ErrClosed means that Close was called before the charge was submitted.
	ErrClosed = errors.New("the ledger is closed")
)

// A Kind of Decision is what was decided about a step of a request. Kinds are declared in
// order of precedence.
type Kind uint8

// The kinds.
const (
	Good                Kind = iota
	UnknownKey               // missing, malformed, unknown, expired, revoked, or of a suspended account
	WrongOrigin              // the key is bound to browser origins, and the request has none of them
	RateLimited              // the token bucket of the account or of the key is empty
	Busy                     // the account has too many requests in progress on this replica
	UnpaidWork               // the account left too much work unpaid on this replica
	IdempotencyMismatch      // an earlier request had this Idempotency-Key and another body
	IdempotencyConflict      // the first request with this Idempotency-Key is in progress on this replica
	Replayed                 // charged before; Response is the stored response
	RecordsFull              // the account's idempotency records take all the bytes its plan allows
	Insufficient             // too few points this month
	Claimed                  // requests in progress have claimed the points that are missing
)

var kinds = [...]string{"good", "unknown key", "wrong origin", "rate limited", "busy", "unpaid work", "idempotency mismatch",
	"idempotency conflict", "replayed", "records full", "insufficient points", "points claimed"}

func (k Kind) String() string { return kinds[k] }

// A Decision is the result of a step of a request, with what the account has
// used.
type Decision struct {
	Kind Kind
	// Usage is exact after a charge, else at most a second old. It is nil with
	// UnknownKey and WrongOrigin.
	Usage *Usage
	// Remaining is the number of the month's points that are neither used nor
	// claimed by requests in progress: Unlimited, or 0 in overage.
	Remaining int64
	// RetryAfter is the time until there is a token (RateLimited) or until the
	// refill (Insufficient). It is a second with IdempotencyConflict, Busy,
	// UnpaidWork, RecordsFull and Claimed.
	RetryAfter time.Duration
	// Quota is set by Begin and Inspect, except with UnknownKey and WrongOrigin.
	Quota *Quota
	// AllowOrigin is set by Begin: the request's origin, if the key is bound to
	// it, else "". Only a page of this origin may read the responses.
	AllowOrigin string
	// Response is the stored response, with Replayed.
	Response []byte
}

// Usage is what the account has used this month.
type Usage struct {
	Current int64
	Limit   int64 // or Unlimited
	Overage bool  // Current is beyond Limit, and the account may be
}

// Quota is what the key may still do within the limits of its account.
type Quota struct {
	Rate    int64         // requests a second, or Unlimited
	Tokens  int64         // requests that would be admitted now; Unlimited if Rate is
	Refill  time.Duration // until the month's points refill
	Overage bool          // points beyond the limit are allowed
	Policy  string        // the name of the key's default policy, "" for none
}

// A Charge is what a finished request is charged.
type Charge struct {
	Points int64 // at most what was claimed
	Found  book.Found
	// Response is stored for the request's Idempotency-Key to replay; nil stores
	// nothing.
	Response []byte
}

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
	stored   int64 // bytes of idempotency records
	policies int64 // how often a policy of the account was changed
}

// A keyState is the row of a key.
type keyState struct {
	id, account int64
	rate        int64 // requests a second, within the account's, or Unlimited
	budget      int64 // points a month, within the account's, or Unlimited
	revoked     bool
	expires     int64  // Unix time in nanoseconds; 0 for never
	origins     string // of browser pages that may use the key, separated by spaces; "" if it is not bound to any
	policy      string // the name of the default policy; "" for none
	test        bool   // its requests are not charged

	consumption
}

// columns returns the fields in the order in which all queries in
// store/*/queries.sql select them.
func (a *accountState) columns() []any {
	return []any{&a.id, &a.month, &a.used, &a.tat, &a.stored, &a.policies, &a.suspended, &a.points, &a.rate, &a.overage, &a.storedLimit}
}

// columns does the same for a key.
func (k *keyState) columns() []any {
	return []any{&k.id, &k.revoked, &k.expires, &k.budget, &k.rate, &k.origins, &k.policy, &k.test, &k.month, &k.used, &k.tat}
}

// consumption is what an account or a key has used.
type consumption struct {
	month book.Month // the month of used
	used  int64      // points
	tat   int64      // state of the token bucket, see takeToken

	changed bool
}

// roll moves to month m, with nothing used, if m is later. A clock that is set
// back leaves the later month in place, so that no month is refilled twice.
func (c *consumption) roll(m book.Month) {
	if m > c.month {
		c.month, c.used, c.changed = m, 0, true
	}
}

// isCounted reports whether the database has what the key has used: one without a limit
// of its own has no need of it, and is not written.
func (k *keyState) isCounted() bool { return k.budget != book.Unlimited || k.rate != book.Unlimited }

// roll, charge and void do what those of consumption do, if the key is counted.
func (k *keyState) roll(m book.Month) {
	if k.isCounted() {
		k.consumption.roll(m)
	}
}

func (k *keyState) charge(points int64) {
	if k.isCounted() {
		k.consumption.charge(points)
	}
}

func (k *keyState) void(points int64, m book.Month) {
	if k.isCounted() {
		k.consumption.void(points, m)
	}
}

func (c *consumption) charge(points int64) {
	c.used += points
	c.changed = true
}

// void gives back a charge of month m. If m is over, there is nothing to do. The
// result is at least 0, since an operator may have lowered used meanwhile.
func (c *consumption) void(points int64, m book.Month) {
	if c.month == m {
		c.used = max(0, c.used-points)
		c.changed = true
	}
}

func (a *accountState) addStored(bytes int64) {
	a.stored = max(0, a.stored+bytes)
	a.changed = true
}

// shortfall returns how many of the points are missing if requests in progress
// have claimed some. A request for 0 points lacks none, also beyond the limit.
func (a *accountState) shortfall(points, claimed int64) int64 {
	if points == 0 || a.overage || a.points == book.Unlimited {
		return 0
	}
	return max(0, a.used+claimed+points-a.points)
}

// shortfall does the same for the key's budget.
func (k *keyState) shortfall(points, claimed int64) int64 {
	if points == 0 || k.budget == book.Unlimited {
		return 0
	}
	return max(0, k.used+claimed+points-k.budget)
}

// remaining returns what is left of the month's points, without overage.
func (a *accountState) remaining(claimed int64) int64 {
	if a.points == book.Unlimited {
		return book.Unlimited
	}
	return max(a.points-a.used-claimed, 0)
}

// remaining returns what is left of the key's budget.
func (k *keyState) remaining(claimed int64) int64 {
	if k.budget == book.Unlimited {
		return book.Unlimited
	}
	return max(k.budget-k.used-claimed, 0)
}

// minLimit returns the smaller of two limits.
func minLimit(a, b int64) int64 {
	if a == book.Unlimited || b != book.Unlimited && b < a {
		return b
	}
	return a
}

// decision returns a decision with the account's usage, in which points claimed by
// requests in progress do not remain.
func (a *accountState) decision(kind Kind, wait time.Duration, claimed int64) Decision {
	over := a.overage && a.points != book.Unlimited && a.used > a.points
	return Decision{Kind: kind, Usage: &Usage{Current: a.used, Limit: a.points, Overage: over}, Remaining: a.remaining(claimed), RetryAfter: wait}
}

// day returns the day to record points under: today, or the day of the account's
// month closest to it if the clock was set back. The days of a month therefore
// sum to the month's points.
func (a *accountState) day(now time.Time) book.Day {
	first, last := book.DayOf(a.month.Begin()), book.DayOf((a.month+1).Begin())-1
	return min(max(book.DayOf(now), first), last)
}

// judge returns Good if a request with the header Origin, "" if it has none, may use
// the key: it is not revoked, neither it nor the secret has expired by now, and the
// account is not suspended. RFC 6454 section 5 compares origins; both are serialised,
// so equal origins are equal strings.
func (k *keyState) judge(a *accountState, secretExpires int64, now time.Time, origin string) Kind {
	over := func(expires int64) bool { return expires != 0 && now.UnixNano() >= expires }
	switch {
	case k.revoked, a.suspended, over(k.expires), over(secretExpires):
		return UnknownKey
	case k.origins != "" && !k.names(origin):
		return WrongOrigin
	}
	return Good
}

// names reports whether the key is bound to the origin.
func (k *keyState) names(origin string) bool {
	for bound := range strings.SplitSeq(k.origins, " ") {
		if bound != "" && bound == origin {
			return true
		}
	}
	return false
}
