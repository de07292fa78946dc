package mx

import (
	"errors"
	"time"

	"github.com/maypok86/otter/v2"
)

// Config configures a [Resolver]. A zero field means its default.
type Config struct {
	Servers     []string      // recursive resolvers, "host:port"; empty: those of /etc/resolv.conf at the start
	Timeout     time.Duration // for a whole look-up; 5 s
	Hedge       time.Duration // before a second query, each later one waits twice as long; 400 ms, at most Timeout/8
	Concurrency int           // look-ups that ask at a time; 256
	MaxWaiting  int           // look-ups that ask or wait to; 8,192

	CacheEntries   int           // domains kept; 100,000
	MinTTL         time.Duration // lower clamp of every TTL; 10 s
	MaxTTL         time.Duration // upper clamp for an MX record; 24 h
	MaxNegativeTTL time.Duration // upper clamp for the lack of one (RFC 2308 section 5); 1 h
	FailureTTL     time.Duration // how long a failure is kept (RFC 9520 section 3.2: at least 1 s); 2 s

	StaleFor     time.Duration // how long past its TTL an answer may serve while resolvers are down (RFC 8767); 24 h; negative: never
	StaleWait    time.Duration // how long a caller waits for news before it is told a stale answer; 1.8 s
	StaleRecheck time.Duration // how long after a failed refresh the next one is tried; 30 s

	clock otter.Clock // for tests
}

func (c Config) withDefaults() Config {
	set(&c.Timeout, 5*time.Second)
	set(&c.Hedge, min(400*time.Millisecond, c.Timeout/8))
	set(&c.Concurrency, 256)
	set(&c.MaxWaiting, 8192)
	set(&c.CacheEntries, 100_000)
	set(&c.MinTTL, 10*time.Second)
	set(&c.MaxTTL, 24*time.Hour)
	set(&c.MaxNegativeTTL, time.Hour)
	set(&c.FailureTTL, 2*time.Second)
	set(&c.StaleFor, 24*time.Hour)
	set(&c.StaleWait, 1800*time.Millisecond)
	set(&c.StaleRecheck, 30*time.Second)
	c.StaleFor = max(c.StaleFor, 0)
	if c.clock == nil {
		c.clock = monotonic{time.Now()}
	}
	return c
}

// check refuses what no resolver can work with.
func (c Config) check() error {
	if min(c.Timeout, c.Hedge, c.MinTTL, c.MaxTTL, c.MaxNegativeTTL, c.FailureTTL, c.StaleWait, c.StaleRecheck) < 0 {
		return errors.New("mx: a duration is negative; only StaleFor may be")
	}
	if min(c.Concurrency, c.MaxWaiting, c.CacheEntries) < 0 {
		return errors.New("mx: a limit is negative; leave it at 0 for its default")
	}
	return nil
}

func set[T int | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
