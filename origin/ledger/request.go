package ledger

import "time"

// A Request asks for admission.
type Request struct {
	Key string // the secret as sent
	// Points is the price. 0 is a request that will be refused whatever the
	// account holds (bad input): only its key and its rate are decided, and it
	// is counted as an error.
	Points      int64
	Idempotency *Idempotency // nil where none was asked for
}

// Idempotency names a request that may be sent again. The ledger never sees
// what was hashed.
type Idempotency struct {
	ID   [32]byte // hash of the Idempotency-Key
	Body [32]byte // hash of what the request asks
}

// A Verdict is what became of a request. They are in order of precedence.
type Verdict uint8

const (
	Admitted            Verdict = iota
	UnknownKey                  // missing, malformed, never made or revoked
	RateLimited                 // the bucket is empty
	Replayed                    // answered before; Replay is that answer
	IdempotencyMismatch         // the idempotency key came with another body before
	IdempotencyConflict         // the first request with this idempotency key is still under way
	Insufficient                // too few points
)

var verdicts = [...]string{"admitted", "unknown key", "rate limited", "replayed",
	"idempotency mismatch", "idempotency conflict", "insufficient points"}

func (v Verdict) String() string { return verdicts[v] }

// Usage is what the account has used this month, after the request.
type Usage struct {
	Current int64
	Limit   int64 // or Unlimited
	Overage bool  // Current is beyond Limit, which the plan allows
}

// An Admission answers a Request. Every verdict but UnknownKey tells Account
// and Usage.
type Admission struct {
	Verdict    Verdict
	Account    int64
	Usage      Usage
	Remaining  int64         // points left this month, or Unlimited; 0 in overage
	RetryAfter time.Duration // RateLimited: until there is a token; Insufficient: until the refill
	Replay     []byte        // Replayed: what Settle was given

	charge *charge // what was charged; nil where there is nothing to settle
}
