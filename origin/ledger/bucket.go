package ledger

import "time"

// A token bucket holds as many tokens as its rate gives in a second, is filled
// without pause and lends none. It is kept as one integer, the theoretical
// arrival time (TAT) of the generic cell rate algorithm, ITU-T I.371: the
// moment at which the bucket will be full again. A bucket that is full at now
// has a TAT in the past; an empty one has its TAT a second ahead.

// take takes one token at now from a bucket of rate tokens a second. It
// returns the new TAT, or how long to wait until there is a token.
func take(tat, now, rate int64) (int64, time.Duration) {
	if rate == Unlimited {
		return tat, 0
	}
	interval := int64(time.Second) / rate // between two tokens
	window := interval * rate             // from empty to full
	// A TAT further ahead than an empty bucket's comes from a clock that was
	// set back since; without the bound it would shut the account out until
	// the clock has caught up.
	tat = min(max(tat, now), now+window)
	if early := tat + interval - (now + window); early > 0 {
		return tat, time.Duration(early)
	}
	return tat + interval, 0
}
