package main

import (
	"time"

	"github.com/maypok86/otter/v2"
)

// A peerEntry is as large as an entry of the resolver's cache, which otter copies.
type peerEntry struct {
	mx         bool
	err        error
	freshUntil int64
	expires    int64
}

// newPeerCache returns otter's cache, configured as origin/mx does, so that the ratio
// is what the resolver adds to it.
func newPeerCache() (*otter.Cache[string, peerEntry], error) {
	return otter.New(&otter.Options[string, peerEntry]{
		MaximumSize: 100_000,
		Clock:       sinceStart{time.Now()},
		ExpiryCalculator: otter.ExpiryWritingFunc(func(otter.Entry[string, peerEntry]) time.Duration {
			return time.Hour
		}),
	})
}

// sinceStart is a clock that a change of the system's time does not move.
type sinceStart struct{ start time.Time }

// NowNano implements otter.Clock.
func (s sinceStart) NowNano() int64 { return int64(time.Since(s.start)) }

// Tick implements otter.Clock.
func (s sinceStart) Tick(d time.Duration) <-chan time.Time { return time.Tick(d) }
