package commit

import (
	"sync"
	"time"
)

// Stats are the writer's counters since Start, and the present length of its queue.
type Stats struct {
	Commits   int64         // transactions that succeeded
	Failures  int64         // transactions that failed
	Charges   int64         // charges in the transactions that succeeded
	Largest   int           // charges in the largest commit group
	Busy      time.Duration // time spent in transactions
	Slowest   time.Duration // the longest of them
	Waiting   int           // tickets in the queue now
	LockWaits int64         // transactions that waited in vain for a lock
	Locked    int           // accounts that another session has locked, as far as the writer has tried lately
}

type counter struct {
	mu sync.Mutex
	Stats
}

func (c *counter) count(charges int, took time.Duration, err error, lockWaits, locked int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Busy, c.Slowest = c.Busy+took, max(c.Slowest, took)
	c.LockWaits, c.Locked = c.LockWaits+int64(lockWaits), locked
	if err != nil {
		c.Failures++
		return
	}
	c.Commits++
	c.Charges += int64(charges)
	c.Largest = max(c.Largest, charges)
}
