package ledger

import "time"

// A token bucket holds as many tokens as its rate gives in a second, is filled
// continuously and lends none. It is kept as one integer, the theoretical
// arrival time (TAT) of the generic cell rate algorithm, ITU-T I.371: the
// moment at which the bucket will be full again.
//
// A request takes its token with the time of its arrival and not of its
// charge, so a client that keeps its rate is not refused because work delays
// and bunches its charges. The token reaches the database up to lateness after
// the arrival, and tokens of several replicas in any order. Hence a bucket may
// be overdrawn by what it gains in lateness: counted by arrival, an account
// takes at most capacity + rate x (T + lateness) in any time T.

// lateness is how late a token may reach the database.
const lateness = 100 * time.Millisecond

// take takes one token at arrival from a bucket of rate tokens a second, which
// may be overdrawn by tolerance. It returns the new TAT, or the old one and
// how long to wait for a token.
func takeToken(tat int64, arrival, now time.Time, rate int64, tolerance time.Duration) (int64, time.Duration) {
	if rate == Unlimited {
		return tat, 0
	}
	interval := intervalOf(rate)
	window := interval * rate // from empty to full
	at := arrival.UnixNano()
	taken := tatAfter(tat, arrival, rate)
	if tat > now.UnixNano()+window+int64(lateness) {
		// No arrival so far can have led there: the clock was set back since.
		// The account is not shut out until the clock has caught up.
		taken = at + window
	}
	wait := time.Duration(taken - at - window)
	if wait > tolerance {
		return tat, wait
	}
	return taken, 0
}

// push is the TAT after a token that was given at arrival.
func tatAfter(tat int64, arrival time.Time, rate int64) int64 {
	if rate == Unlimited {
		return tat
	}
	return max(tat, arrival.UnixNano()) + intervalOf(rate)
}

// tokens is how many tokens a bucket has at the moment.
func tokensLeft(tat int64, now time.Time, rate int64) int64 {
	if rate == Unlimited {
		return Unlimited
	}
	interval := intervalOf(rate)
	return min(max((now.UnixNano()+interval*rate-tat)/interval, 0), rate)
}

// intervalOf is the time between two tokens, in nanoseconds.
func intervalOf(rate int64) int64 { return int64(time.Second) / rate }

// jitterOf is how much too early a paced client's request may arrive, a tenth
// of the interval: too little for a further token in a burst.
func jitterOf(rate int64) time.Duration {
	if rate == Unlimited {
		return 0
	}
	return time.Duration(intervalOf(rate) / 10)
}

// waste is a bucket for work that nobody paid for, since the caller hung up or
// was refused after it: of 1,024 addresses, refilled with 64 a second. An
// account that overdraws it waits.
type unpaidWork struct{ full time.Time } // when it will be full again

const (
	unpaidCapacity = 1024
	unpaidInterval = time.Second / 64
	unpaidDebt     = 4 * unpaidCapacity // at most, so that an accident is forgiven in a minute
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
