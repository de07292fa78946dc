package ledger

import "time"

// An Option sets something of a Ledger that has a default.
type Option func(*settings)

type settings struct {
	clock func() time.Time // nil: the database's own
	lease time.Duration
}

// DefaultLease is how long a request holds its idempotency key unless it is
// settled. It must be longer than the longest batch takes.
const DefaultLease = time.Minute

func defaults(options []Option) settings {
	s := settings{lease: DefaultLease}
	for _, option := range options {
		option(&s)
	}
	return s
}

// localClock is this machine's, or the one given.
func (s settings) localClock() func() time.Time {
	if s.clock == nil {
		return time.Now
	}
	return s.clock
}

// WithClock makes the ledger read the time from now. Without it SQLite uses
// this machine's clock and PostgreSQL its own, so that replicas share one.
func WithClock(now func() time.Time) Option { return func(s *settings) { s.clock = now } }

// WithLease sets how long a request may hold an idempotency key without being
// settled before a retry may take it over.
func WithLease(d time.Duration) Option { return func(s *settings) { s.lease = d } }
