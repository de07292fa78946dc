package mx

import (
	"errors"
	"fmt"
	"time"
)

// Config configures a [Resolver]. A zero field means its default.
type Config struct {
	Servers     []string      // recursive resolvers, "host:port"; default: those in /etc/resolv.conf at start
	Timeout     time.Duration // of a look-up from its first query, and before that of the wait for a slot; 5 s
	Hedge       time.Duration // interval before the second query, doubled for each later one; 400 ms, at most Timeout/8
	Concurrency int           // look-ups that run at a time; 256
	MaxWaiting  int           // look-ups that wait for a slot; 8,192

	// Limits of an account that is alone. They shrink while other accounts use
	// the resolver; see fairQueue.
	AccountConcurrency int // a quarter of Concurrency, at least 1
	AccountWaiting     int // an eighth of MaxWaiting, at least 1

	CacheEntries   int           // domains in the cache; 100,000
	MinTTL         time.Duration // lower clamp of every TTL; 10 s
	MaxTTL         time.Duration // upper clamp for an MX record; 24 h
	MaxNegativeTTL time.Duration // upper clamp for a negative answer (RFC 2308 section 5); 1 h
	FailureTTL     time.Duration // how long a failure is cached (RFC 9520 section 3.2: at least 1 s); 2 s

	StaleFor     time.Duration // how long past its TTL an answer of true may be served while resolvers are down (RFC 8767); 24 h; negative: never
	StaleWait    time.Duration // how long a caller waits for a refresh before it gets the stale answer; 1.8 s
	StaleRecheck time.Duration // time between a failed refresh and the next; 30 s

	clock *clock // for tests; default: one of clockResolution
}

func (c Config) withDefaults() Config {
	setDefault(&c.Timeout, 5*time.Second)
	setDefault(&c.Hedge, min(400*time.Millisecond, c.Timeout/8))
	setDefault(&c.Concurrency, 256)
	setDefault(&c.MaxWaiting, 8192)
	setDefault(&c.AccountConcurrency, max(c.Concurrency/4, 1))
	setDefault(&c.AccountWaiting, max(c.MaxWaiting/8, 1))
	setDefault(&c.CacheEntries, 100_000)
	setDefault(&c.MinTTL, 10*time.Second)
	setDefault(&c.MaxTTL, 24*time.Hour)
	setDefault(&c.MaxNegativeTTL, time.Hour)
	setDefault(&c.FailureTTL, 2*time.Second)
	setDefault(&c.StaleFor, 24*time.Hour)
	setDefault(&c.StaleWait, 1800*time.Millisecond)
	setDefault(&c.StaleRecheck, 30*time.Second)
	c.StaleFor = max(c.StaleFor, 0)
	return c
}

// check returns an error for the first invalid setting. Defaults must be set.
func (c Config) check() error {
	switch {
	case c.Timeout < minTimeout:
		return fmt.Errorf("mx: Timeout is %s; give at least %s", c.Timeout, minTimeout)
	case c.Concurrency < 1, c.Concurrency > maxLookups:
		return fmt.Errorf("mx: Concurrency is %d; give 1 to %d", c.Concurrency, maxLookups)
	case min(c.Hedge, c.MinTTL, c.MaxTTL, c.MaxNegativeTTL, c.FailureTTL, c.StaleWait, c.StaleRecheck) < 0:
		return errors.New("mx: a duration is negative; only StaleFor may be")
	case min(c.MaxWaiting, c.AccountConcurrency, c.AccountWaiting, c.CacheEntries) < 0:
		return errors.New("mx: a limit is negative; leave it at 0 for its default")
	case c.MaxWaiting > maxLookups:
		return fmt.Errorf("mx: MaxWaiting is %d; give at most %d", c.MaxWaiting, maxLookups)
	case c.AccountConcurrency > c.Concurrency, c.AccountWaiting > c.MaxWaiting:
		return errors.New("mx: the limit of one account exceeds the limit of all; lower it")
	}
	return nil
}

const (
	minTimeout = time.Millisecond
	maxLookups = 1 << 20
)

func setDefault[T int | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
