package listupdate

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/lists/feed"
)

// Stats are counted since the start.
type Stats struct {
	Attempt  time.Time // when the feed was last looked at; zero if never
	Success  time.Time // when that last succeeded, also if nothing was new
	Updates  int64     // lists taken into use, from the feed or the file
	Failures map[feed.Reason]int64
}

type stats struct {
	attempt, success, updates atomic.Int64
	mu                        sync.Mutex
	failures                  map[feed.Reason]int64
}

func (s *stats) failed(reason feed.Reason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures == nil {
		s.failures = map[feed.Reason]int64{}
	}
	s.failures[reason]++
}

// Stats returns the statistics. Failures has every reason.
func (k *Keeper) Stats() Stats {
	s := Stats{timeOf(&k.stats.attempt), timeOf(&k.stats.success), k.stats.updates.Load(), map[feed.Reason]int64{}}
	k.stats.mu.Lock()
	defer k.stats.mu.Unlock()
	for _, reason := range feed.Reasons {
		s.Failures[reason] = k.stats.failures[reason]
	}
	return s
}

func timeOf(nanoseconds *atomic.Int64) time.Time {
	if n := nanoseconds.Load(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}
