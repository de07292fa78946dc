package main

import "time"

// nanoseconds returns how long one call of f takes, on average over span. It reads
// the clock rarely, in steps that grow.
func nanoseconds(span time.Duration, f func()) float64 {
	f() // what only the first call does
	begun, calls := time.Now(), 0
	for step := 1; time.Since(begun) < span; step = min(2*step, 1024) {
		for range step {
			f()
		}
		calls += step
	}
	return float64(time.Since(begun).Nanoseconds()) / float64(calls)
}
