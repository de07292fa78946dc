package state

import (
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
)

// A token bucket refills continuously at its rate, in tokens a second, and has
// the capacity of one second. Its state is one integer, the theoretical arrival
// time (TAT) of the generic cell rate algorithm, ITU-T I.371: the time at which
// the bucket will be full again.
//
// A token is taken at the request's arrival, not at its charge: work delays and
// bunches charges, and a client that keeps its rate must not be refused for
// that. The token reaches the database up to lateness after the arrival, and
// tokens of several replicas arrive in any order. A bucket may therefore be
// overdrawn by what it gains in lateness: counted by arrival, an account takes
// at most capacity + rate x (T + lateness) tokens in any time T.

// Lateness bounds the delay of a token on its way to the database.
const Lateness = 100 * time.Millisecond

// takeToken takes one token at arrival from a bucket of rate tokens a second,
// which may be overdrawn by tolerance. It returns the new TAT and 0, or the old
// TAT and the time until there is a token.
func takeToken(tat int64, arrival, now time.Time, rate int64, tolerance time.Duration) (int64, time.Duration) {
	if rate == book.Unlimited {
		return tat, 0
	}
	at, window, possible := arrival.UnixNano(), windowOf(rate), tat
	if tat > now.UnixNano()+window+int64(Lateness) {
		// The clock was ahead: one token is left, or the account would wait for the clock.
		possible = at + window - intervalOf(rate)
	}
	taken := tatAfter(possible, arrival, rate)
	wait := time.Duration(taken - at - window)
	if wait > tolerance {
		return tat, wait
	}
	return taken, 0
}

func tatAfter(tat int64, arrival time.Time, rate int64) int64 {
	if rate == book.Unlimited {
		return tat
	}
	return max(tat, arrival.UnixNano()) + intervalOf(rate)
}

func tokensLeft(tat int64, now time.Time, rate int64) int64 {
	if rate == book.Unlimited {
		return book.Unlimited
	}
	left := now.UnixNano() + windowOf(rate) - tat
	return min(max(left/intervalOf(rate), 0), rate)
}

// windowOf returns the time from an empty bucket to a full one, in nanoseconds.
func windowOf(rate int64) int64 { return intervalOf(rate) * rate }

// intervalOf returns the time between two tokens, in nanoseconds.
func intervalOf(rate int64) int64 { return int64(time.Second) / rate }

// jitterOf returns how early a request of a paced client may arrive: a tenth of
// the interval, which is too little for another token in a burst.
func jitterOf(rate int64) time.Duration {
	if rate == book.Unlimited {
		return 0
	}
	return time.Duration(intervalOf(rate) / 10)
}

// unpaidWork is a bucket of 1,024 addresses, refilled with 64 a second, for work
// that was not charged because the caller hung up or was refused after it. An
// account whose bucket is overdrawn waits.
type unpaidWork struct{ full time.Time } // when it will be full again

const (
	unpaidCapacity = 1024
	unpaidInterval = time.Second / 64
	unpaidDebt     = 4 * unpaidCapacity // the most that counts, so that an account waits less than a minute
)

func (w *unpaidWork) add(addresses int64, now time.Time) {
	if w.full.Before(now) {
		w.full = now
	}
	w.full = w.full.Add(time.Duration(addresses) * unpaidInterval)
	if latest := now.Add(unpaidDebt * unpaidInterval); w.full.After(latest) {
		w.full = latest
	}
}

func (w *unpaidWork) over(now time.Time) bool { return w.full.Sub(now) > unpaidCapacity*unpaidInterval }
