package mx

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/maypok86/otter/v2"
)

// Config configures a [Resolver]. A zero field means its default.
type Config struct {
	// Servers are the recursive resolvers, as host:port or, with port 53, as host. Default:
	// those of /etc/resolv.conf, which is read again when it changes.
	Servers []string

	Timeout     time.Duration // of a lookup from its first query, and before that of the wait for a slot; 5 s
	Concurrency int           // lookups that run at a time; 256

	// AccountConcurrency is how many lookups of one account run at a time: a quarter of
	// Concurrency, at least 1, and fewer while other accounts use the resolver (package
	// limit). If it is Concurrency, one account may use all slots.
	AccountConcurrency int

	MinTTL         time.Duration // lower clamp of every TTL; 10 s
	MaxTTL         time.Duration // upper clamp for an MX record; 24 h
	MaxNegativeTTL time.Duration // upper clamp for a negative result (RFC 2308 section 5); 1 h
	FailureTTL     time.Duration // how long a failure is cached (RFC 9520 section 3.2: at least 1 s); 2 s

	// WithMX are domains that have MX records, for [Resolver.Verify]: a server that
	// denies those of all of them lies. None: nothing is verified.
	WithMX []string
	// Strict makes a lookup fail if its reply is that of a server which lies, or if it
	// is a denial by a server that Verify has not asked yet. A false that is cached when
	// a server is found to lie is not served any more, since it may be a lie.
	Strict bool

	Log *slog.Logger // gets what is wrong with /etc/resolv.conf, and when it changes; default: nothing

	// Only tests change these.

	resolvConf     string        // the file that names the servers; /etc/resolv.conf
	interval       time.Duration // for which a server may be silent before the next query; 400 ms, at most Timeout/8
	pause          time.Duration // before the only server is asked again; 200 ms, at most Timeout/8
	maxWaiting     int           // lookups that wait for a slot; 8,192
	accountWaiting int           // of one account; an eighth of maxWaiting, at least 1
	cacheEntries   int           // domains in the cache; 100,000
	staleWait      time.Duration // how long a caller waits for a refresh before it gets the stale result; 1.8 s
	clock          otter.Clock   // one of clockResolution
}

const defaultEntries = 100_000 // domains in the cache

func (c Config) withDefaults() Config {
	setDefault(&c.Timeout, 5*time.Second)
	setDefault(&c.Concurrency, 256)
	setDefault(&c.AccountConcurrency, max(c.Concurrency/4, 1))
	setDefault(&c.MinTTL, 10*time.Second)
	setDefault(&c.MaxTTL, 24*time.Hour)
	setDefault(&c.MaxNegativeTTL, time.Hour)
	setDefault(&c.FailureTTL, 2*time.Second)
	setDefault(&c.Log, slog.New(slog.DiscardHandler))
	setDefault(&c.resolvConf, resolvConf)
	setDefault(&c.interval, min(400*time.Millisecond, c.Timeout/8))
	setDefault(&c.pause, min(200*time.Millisecond, c.Timeout/8))
	setDefault(&c.maxWaiting, 8192)
	setDefault(&c.accountWaiting, max(c.maxWaiting/8, 1))
	setDefault(&c.cacheEntries, defaultEntries)
	setDefault(&c.staleWait, 1800*time.Millisecond)
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

const (
	minTimeout = time.Millisecond
	maxLookups = 1 << 20
	maxWithMX  = 8
)

// check returns an error for the first invalid setting. Defaults must be set.
func (c Config) check() error {
	switch {
	case c.Timeout < minTimeout:
		return fmt.Errorf("mx: Timeout is %s; give at least %s", c.Timeout, minTimeout)
	case c.Concurrency < 1, c.Concurrency > maxLookups:
		return fmt.Errorf("mx: Concurrency is %d; give 1 to %d", c.Concurrency, maxLookups)
	case c.AccountConcurrency < 1, c.AccountConcurrency > c.Concurrency:
		return fmt.Errorf("mx: AccountConcurrency is %d; give 1 to %d, the value of Concurrency", c.AccountConcurrency, c.Concurrency)
	case min(c.MinTTL, c.MaxTTL, c.MaxNegativeTTL, c.FailureTTL) < 0:
		return errors.New("mx: a duration is negative")
	case len(c.WithMX) > maxWithMX:
		return fmt.Errorf("mx: --dns-with-mx has %d domains; give %d at most", len(c.WithMX), maxWithMX)
	}
	for _, domain := range c.WithMX {
		if name, err := canonicalName(domain); err != nil || name == "" {
			return fmt.Errorf("mx: --dns-with-mx %q is not a domain; write one that has MX records, in A-label form, such as gmail.com", domain)
		}
	}
	return nil
}
