package state

import (
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

// Rows are the rows that a commit group concerns, as its transaction read them under locks, and
// what the group's operations change.
type Rows struct {
	Now      time.Time // by the database's clock
	Instant  time.Time // the same time by the monotonic clock
	Accounts map[int64]*Account
	Keys     map[int64]*Key
	Secrets  map[book.Digest]int64 // expiry, Unix time in nanoseconds; 0 for never
	Records  map[RecordAt]*Record
	Usage    map[UsageAt]book.Tally // to add to the history

	Deleted, Stored []RecordAt // records to delete first, and then to insert
	Probe           bool       // a write was asked for that changes nothing
}

// NewRows returns no rows, as they are before a transaction reads them.
func NewRows() *Rows {
	return &Rows{Accounts: map[int64]*Account{}, Keys: map[int64]*Key{}, Secrets: map[book.Digest]int64{},
		Records: map[RecordAt]*Record{}, Usage: map[UsageAt]book.Tally{}}
}

// A Needs is the rows and records that the operations of a group need.
type Needs struct {
	Rows    map[RowAt]bool
	Records map[RecordAt]bool
}

// A RowAt identifies an account, one of its keys or 0, and one of the key's secrets or zeros.
type RowAt struct {
	Account, Key int64
	Secret       book.Digest
}

// A RecordAt identifies an idempotency record.
type RecordAt struct {
	Account int64
	ID      Hash
}

// A UsageAt identifies a row of the usage history.
type UsageAt struct {
	Account, Key int64
	Day          book.Day
}

// A Hash is the hash of a secret, of an Idempotency-Key or of a body.
type Hash [32]byte

// Hex returns the hash as the database stores it.
func (h *Hash) Hex() string { return hex.EncodeToString(h[:]) }

// Scan reads a hash that the database has stored; "" or NULL leaves it as it is.
func (h *Hash) Scan(column any) error {
	text, ok := column.([]byte)
	if s, isString := column.(string); isString {
		text, ok = []byte(s), true
	}
	if column == nil || ok && len(text) == 0 {
		return nil
	}
	if !ok || hex.DecodedLen(len(text)) != len(h) {
		return errors.New("a hash in the database has the wrong length")
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// Idempotency identifies a request that a client may retry, by hashes only.
type Idempotency struct {
	ID   Hash // of the account and the Idempotency-Key
	Body Hash // of the request's body
}

// A Record is an idempotency record: the stored response for an Idempotency-Key.
type Record struct {
	Body     Hash // as in Idempotency
	Response []byte
	Size     int64
	Expires  int64 // Unix time in nanoseconds
}

func (x *Record) replay(once *Idempotency, d Decision) Decision {
	if subtle.ConstantTimeCompare(x.Body[:], once.Body[:]) == 0 {
		d.Kind = IdempotencyMismatch
		return d
	}
	d.Response = x.Response
	return d
}

// An Account is the row of an account: its limits and what it has used.
type Account struct {
	ID          int64
	rate        int64 // requests a second, or Unlimited
	points      int64 // points a month, or Unlimited
	overage     bool
	storedLimit int64 // bytes of idempotency records allowed
	suspended   bool

	consumption
	stored   int64 // bytes of idempotency records
	policies int64 // how often a policy of the account was changed
}

// A Key is the row of a key.
type Key struct {
	ID, Account int64
	rate        int64 // requests a second, within the account's, or Unlimited
	budget      int64 // points a month, within the account's, or Unlimited
	revoked     bool
	expires     int64  // Unix time in nanoseconds; 0 for never
	origins     string // of browser pages that may use the key, separated by spaces; "" if it is not bound to any
	policy      string // the name of the default policy; "" for none
	test        bool   // its requests are not charged

	consumption
}

// Columns returns the fields in the order in which all queries in
// store/*/queries.sql select them.
func (a *Account) Columns() []any {
	return []any{&a.ID, &a.month, &a.used, &a.tat, &a.stored, &a.policies, &a.suspended,
		&a.points, &a.rate, &a.overage, &a.storedLimit}
}

// Columns does the same for a key.
func (k *Key) Columns() []any {
	return []any{&k.ID, &k.revoked, &k.expires, &k.budget, &k.rate, &k.origins, &k.policy, &k.test,
		&k.month, &k.used, &k.tat}
}

// Changes returns the columns that charges change; nil if none has changed.
func (a *Account) Changes() []any {
	if !a.changed {
		return nil
	}
	return []any{a.ID, int64(a.month), a.used, a.tat, a.stored}
}

// Changes does the same for a key. The database has no need of what a key without a limit of its
// own has used.
func (k *Key) Changes() []any {
	if !k.changed || k.budget == book.Unlimited && k.rate == book.Unlimited {
		return nil
	}
	return []any{k.ID, int64(k.month), k.used, k.tat}
}

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

// remaining ignores overage.
func (c *consumption) remaining(limit, claimed int64) int64 {
	if limit == book.Unlimited {
		return book.Unlimited
	}
	return max(limit-c.used-claimed, 0)
}

// A request for 0 points lacks none, also beyond the limit.
func (c *consumption) shortfall(limit, points, claimed int64) int64 {
	if points == 0 || limit == book.Unlimited {
		return 0
	}
	return max(0, c.used+claimed+points-limit)
}

func (a *Account) shortfall(points, claimed int64) int64 {
	if a.overage {
		return 0
	}
	return a.consumption.shortfall(a.points, points, claimed)
}

func (k *Key) shortfall(points, claimed int64) int64 {
	return k.consumption.shortfall(k.budget, points, claimed)
}

func minLimit(a, b int64) int64 {
	if a == book.Unlimited || b != book.Unlimited && b < a {
		return b
	}
	return a
}

// Points claimed by requests in progress do not remain.
func (a *Account) decision(kind Kind, wait time.Duration, claimed int64) Decision {
	over := a.overage && a.points != book.Unlimited && a.used > a.points
	return Decision{Kind: kind, Usage: &Usage{Current: a.used, Limit: a.points, Overage: over},
		Remaining: a.remaining(a.points, claimed), RetryAfter: wait}
}

// day returns the day to record points under: today, or the day of the account's
// month closest to it if the clock was set back. The days of a month therefore
// sum to the month's points.
func (a *Account) day(now time.Time) book.Day {
	first, last := book.DayOf(a.month.Begin()), book.DayOf((a.month+1).Begin())-1
	return min(max(book.DayOf(now), first), last)
}

// judge returns Good if a request with the header Origin, "" if it has none, may use
// the key: it is not revoked, neither it nor the secret has expired by now, and the
// account is not suspended. RFC 6454 section 5 compares origins; both are serialised,
// so equal origins are equal strings.
func (k *Key) judge(a *Account, secretExpires int64, now time.Time, origin string) Kind {
	over := func(expires int64) bool { return expires != 0 && now.UnixNano() >= expires }
	switch {
	case k.revoked, a.suspended, over(k.expires), over(secretExpires):
		return UnknownKey
	case k.origins != "" && !k.names(origin):
		return WrongOrigin
	}
	return Good
}

func (k *Key) names(origin string) bool {
	return origin != "" && slices.Contains(strings.Fields(k.origins), origin)
}

func (rows *Rows) addTally(at UsageAt, t book.Tally) { rows.Usage[at] = rows.Usage[at].Plus(t) }

// putRecord stores a record, in place of an expired one if there is one.
func (rows *Rows) putRecord(at RecordAt, x *Record) {
	rows.deleteRecord(at)
	rows.Records[at] = x
	rows.Accounts[at.Account].addStored(x.Size)
	rows.Stored = append(rows.Stored, at)
}

func (rows *Rows) deleteRecord(at RecordAt) {
	x, a := rows.Records[at], rows.Accounts[at.Account]
	if x != nil && a != nil { // else the account was deleted since
		delete(rows.Records, at)
		a.addStored(-x.Size)
		rows.Deleted = append(rows.Deleted, at)
	}
}

func (a *Account) addStored(bytes int64) { a.stored, a.changed = max(0, a.stored+bytes), true }
