// Package state decides about requests. It has the recent state of accounts and keys in memory
// (view.go), the rules by which a request begins (judge.go), and the operations of a commit
// group, which decide on rows that a transaction has read (rows.go, operation.go, ticket.go). It
// knows no database and starts no goroutine: package commit runs the transactions, package
// ledger the requests.
package state

import (
	"errors"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

// Errors of charges. A request that is refused gets a Decision and no error.
var (
	// ErrUndecided means that the database has not confirmed the commit in time.
	// If it was committed, the charge remains if it has an Idempotency-Key and a
	// stored response; otherwise the next commit group voids it, unless the process
	// ends first.
	ErrUndecided = errors.New("the ledger's database has not confirmed the charge in time")
	// ErrRecord means that the database rejects this account's own rows; nothing
	// was charged.
	ErrRecord = errors.New("the ledger cannot record this charge")
	// ErrLate is why a request does not wait for the database any longer.
	ErrLate = errors.New("it did not respond in time")
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

var kinds = [...]string{"good", "unknown key", "wrong origin", "rate limited", "busy", "unpaid work",
	"idempotency mismatch", "idempotency conflict", "replayed", "records full", "insufficient points", "points claimed"}

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
