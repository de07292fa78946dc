package main

import "time"

// slice is how long one function of beside runs before it is the other's turn. It is
// shorter than the time for which the system usually lets a process run, so that few
// slices contain the work of another process.
const slice = time.Millisecond

// beside returns the nanoseconds of a call of ours and of peer. They take turns for
// span, a slice each, and the figures are the medians of the slices.
func beside(span time.Duration, ours, peer func()) pair {
	calls, peerCalls := callsIn(slice, ours), callsIn(slice, peer)
	var times, peerTimes []float64
	for begun := time.Now(); time.Since(begun) < span || len(times) == 0; {
		times = append(times, nanoseconds(calls, ours))
		peerTimes = append(peerTimes, nanoseconds(peerCalls, peer))
	}
	return pair{Ours: median(times), Peer: median(peerTimes)}
}

// callsIn returns how often f can be called in span, about. It warms f up.
func callsIn(span time.Duration, f func()) int {
	const most = 1 << 24 // of a function without work
	for n := 1; ; n *= 2 {
		if t := nanoseconds(n, f) * float64(n); t >= float64(span) || n >= most {
			return n
		}
	}
}

// nanoseconds returns how long a call of f takes, on average over some calls.
func nanoseconds(calls int, f func()) float64 {
	begun := time.Now()
	for range calls {
		f()
	}
	return float64(time.Since(begun).Nanoseconds()) / float64(calls)
}
