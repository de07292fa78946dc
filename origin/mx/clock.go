package mx

import (
	"sync"
	"sync/atomic"
	"time"
)

// clockResolution is how exactly the ends of TTLs are kept, which are whole seconds.
// Reading the precise time took a third of a look-up that the cache answers.
const clockResolution = 100 * time.Millisecond

// clock is the time since its start, as of the last tick. Changes of the system's clock
// have no effect.
type clock struct {
	nanoseconds atomic.Int64
	stop, ended chan struct{}
	once        sync.Once // closes stop
}

func startClock() *clock {
	c := &clock{stop: make(chan struct{}), ended: make(chan struct{})}
	go c.run()
	return c
}

func (c *clock) run() {
	defer close(c.ended)
	started, ticker := time.Now(), time.NewTicker(clockResolution)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			c.nanoseconds.Store(int64(time.Since(started)))
		case <-c.stop:
			return
		}
	}
}

func (c *clock) now() int64 { return c.nanoseconds.Load() }

// close stops the clock.
func (c *clock) close() {
	c.once.Do(func() { close(c.stop) })
	<-c.ended
}
