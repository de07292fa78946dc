package mx

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// fakeClock is a clock that only advance moves.
type fakeClock struct{ now atomic.Int64 }

func (c *fakeClock) NowNano() int64                      { return c.now.Load() }
func (c *fakeClock) Tick(time.Duration) <-chan time.Time { return nil }
func (c *fakeClock) advance(d time.Duration)             { c.now.Add(int64(d)) }

// openAt is open with a fakeClock.
func openAt(t testing.TB, c Config, servers ...string) (*Resolver, *fakeClock) {
	t.Helper()
	clock := new(fakeClock)
	clock.advance(time.Hour)
	c.clock = clock
	return open(t, c, servers...), clock
}

// ttlZone has domains whose results end at different times.
const ttlZone = `
example.test.  300 IN SOA ns.example.test. hostmaster.example.test. 1 3600 600 86400 60
usual.test.    300 IN MX 10 mail.test.
other.test.    300 IN MX 10 mail.test.
null.test.    7200 IN MX 0 .
`

// newTestCache returns a cache of limit domains whose clock is at its start.
func newTestCache(t testing.TB, limit int) (*cache, *fakeClock) {
	clock := new(fakeClock)
	k := newCache(Config{cacheEntries: limit, clock: clock}.withDefaults())
	t.Cleanup(k.close)
	return k, clock
}

// TestDecide has which TTL a reply has.
func TestCacheTTL(t *testing.T) {
	k, clock := newTestCache(t, 10)
	s := subject{name: "example.test"}
	stored := func(a result) func() entry { return func() entry { return k.store(s, a, 0) } }
	for why, test := range map[string]struct {
		store func() entry
		ttl   time.Duration
	}{
		"usual":             {stored(result{found: true, ttl: 300 * time.Second}), 300 * time.Second},
		"zero":              {stored(result{found: true}), 10 * time.Second},
		"longest":           {stored(result{found: true, ttl: forever}), 24 * time.Hour},
		"negative":          {stored(result{ttl: time.Minute}), time.Minute},
		"negative, zero":    {stored(result{}), 10 * time.Second},
		"negative, longest": {stored(result{ttl: 2 * time.Hour}), time.Hour},
		"failure":           {func() entry { return k.storeFailure(s, &Error{}, nil) }, 2 * time.Second},
	} {
		want := test.store()
		clock.advance(test.ttl - 1)
		got, fresh := k.get(s)
		require.True(t, fresh, why)
		require.Equal(t, want, got, why)
		clock.advance(1)
		got, fresh = k.get(s)
		require.False(t, fresh, why)
		require.Equal(t, want.found, got.found, "%s: only a true is served stale", why)
	}
}

// Exchanges that change are served after the TTL, and not before.
func TestCacheExchangesChange(t *testing.T) {
	server := mxtest.New(t, ttlZone)
	r, clock := openAt(t, Config{}, server.Addr)
	requireExchanges := func(want string) {
		t.Helper()
		found, err := r.Lookup(t.Context(), testAccount, "usual.test")
		require.NoError(t, err)
		require.Equal(t, Result{MX: want != "", Exchanges: want}, found)
	}
	publish := func(text string) {
		server.Respond("usual.test", func(w dns.ResponseWriter, reply *dns.Msg) {
			reply.Answer = []dns.RR{record("usual.test. 300 IN MX " + text)}
			mxtest.Answer(w, reply)
		})
	}
	requireExchanges("mail.test")
	publish("10 new.test.")
	clock.advance(299 * time.Second)
	requireExchanges("mail.test")
	clock.advance(time.Second)
	requireExchanges("new.test")
	publish("0 .")
	clock.advance(300 * time.Second)
	requireExchanges("")
}

// A resolver goes down, stays down for two days, and comes back.
func TestStaleWhileResolverIsDown(t *testing.T) {
	server := mxtest.New(t, ttlZone)
	r, clock := openAt(t, Config{}, server.Addr)
	requireQueries := func(queries int, why string) {
		t.Helper()
		found, err := r.Lookup(t.Context(), testAccount, "usual.test")
		require.NoError(t, err, why)
		require.Equal(t, Result{MX: true, Exchanges: "mail.test"}, found, why)
		require.Equal(t, queries, server.Asked("usual.test"), why)
	}
	requireQueries(1, "first lookup")
	server.RespondAll(mxtest.ServFail)
	clock.advance(301 * time.Second)
	requireQueries(3, "stale after a failed refresh")
	requireQueries(3, "stale, no query within staleRecheck")
	require.EqualValues(t, 2, r.Stats().Stale)
	clock.advance(31 * time.Second)
	requireQueries(5, "stale, queried again")

	clock.advance(24 * time.Hour)
	requireFailure(t, r, Failure, Rcode, "usual.test")
	server.RespondAll(mxtest.Answer)
	clock.advance(3 * time.Second)
	requireQueries(8, "refreshed")
}

// A domain without MX may have one by now, so its result ends with its TTL even
// if the refresh fails. The failure is cached, so that an outage does not cause a
// lookup for each request.
func TestNegativeAnswerIsNeverStale(t *testing.T) {
	for why, responder := range map[string]mxtest.Responder{
		"SERVFAIL": mxtest.ServFail, "silence": mxtest.Silent, "garbage": mxtest.Garbage,
	} {
		for domain, ttl := range map[string]time.Duration{
			"null.test": time.Hour, "none.example.test": time.Minute, "example.test": time.Minute,
		} {
			t.Run(why+"/"+domain, func(t *testing.T) {
				t.Parallel()
				server := mxtest.New(t, ttlZone)
				r, clock := openAt(t, Config{staleWait: time.Millisecond}, server.Addr)
				requireMX(t, r, false, domain)
				server.RespondAll(responder)
				if why == "silence" {
					r.config.Timeout = 200 * time.Millisecond
				}
				clock.advance(ttl)
				_, known, _ := r.Peek(domain)
				require.False(t, known)
				asked := server.Asked(domain)
				for range 3 {
					_, err := r.Lookup(t.Context(), testAccount, domain)
					require.ErrorAs(t, err, new(*Error), "also while the failure is cached")
					_, known, again := r.Peek(domain)
					require.True(t, known)
					require.Equal(t, err, again)
				}
				require.LessOrEqual(t, server.Asked(domain), asked+2, "one lookup for all of them")
				require.Zero(t, r.Stats().Stale)
			})
		}
	}
}

// A caller that leaves, an account at its limit and a lookup after Close get a
// stale result of true, but none of false.
func TestOnlyStaleTrueReplacesErrors(t *testing.T) {
	server := mxtest.New(t, ttlZone)
	r, clock := openAt(t, Config{AccountConcurrency: 1, accountWaiting: 1, staleWait: time.Minute}, server.Addr)
	for domain, mx := range map[string]bool{"usual.test": true, "other.test": true, "null.test": false} {
		requireMX(t, r, mx, domain)
	}
	clock.advance(2 * time.Hour)
	server.RespondAll(mxtest.Silent)
	left, leave := context.WithCancel(t.Context())
	leave()
	found, err := r.Lookup(left, testAccount, "null.test")
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, found.MX)
	found, err = r.Lookup(left, testAccount, "usual.test")
	require.NoError(t, err)
	require.True(t, found.MX)
	eventually(t, func() bool { return server.Asked("usual.test") == 2 }) // its refresh uses the slot

	occupy(t, r, t.Context(), 1, "waiting.test")
	requireMX(t, r, true, "other.test")
	requireFailure(t, r, Limited, AccountLimit, "null.test")
	r.Close()
	requireMX(t, r, true, "other.test")
	requireFailure(t, r, Failure, Closed, "null.test")
}

// If the resolver is silent, one caller waits for staleWait. The refresh goes on
// in the background, and its failure makes the stale result count as fresh.
func TestStaleWait(t *testing.T) {
	server := mxtest.New(t, ttlZone)
	r, clock := openAt(t, Config{staleWait: 20 * time.Millisecond}, server.Addr)
	requireMX(t, r, true, "usual.test")
	server.RespondAll(mxtest.Silent)
	clock.advance(301 * time.Second)

	r.config.Timeout = time.Second
	requireMX(t, r, true, "usual.test")
	require.EqualValues(t, 1, r.Stats().Stale)
	eventually(t, func() bool { return r.Stats().InFlight == 0 })
	require.EqualValues(t, 1, r.Stats().Timeouts)
	_, fresh := r.cache.get(subject{name: "usual.test"})
	require.True(t, fresh, "after its failure the next caller does not wait")
}

// A stale result that expires during its refresh is not served.
func TestStaleResultExpiresDuringRefresh(t *testing.T) {
	k, clock := newTestCache(t, 10)
	stale := k.store(subject{name: "example.test"}, result{found: true, ttl: time.Minute}, 0)
	clock.advance(time.Minute + staleFor)
	require.False(t, k.storeFailure(subject{name: "example.test"}, &Error{}, &stale).found)
}

// A domain is a substring of a request's body, which the cache must not keep in memory.
func TestCacheCopiesName(t *testing.T) {
	r := open(t, Config{}, mxtest.Start(t, ttlZone))
	request := strings.Repeat("x", 1<<20) + "usual.test"
	domain := request[1<<20:]
	requireMX(t, r, true, domain)
	for s := range r.cache.entries.All() {
		require.Equal(t, domain, s.name)
		require.NotSame(t, unsafe.StringData(domain), unsafe.StringData(s.name))
	}
	require.Equal(t, 1, r.Stats().Entries)
}

// Somebody who publishes exchanges as long as possible, also for domains that are cached
// already, does not make the cache larger.
func TestCacheBytesAreBounded(t *testing.T) {
	const limit = 1000
	k, _ := newTestCache(t, limit)
	for n := range 2 * limit {
		name := fmt.Sprintf("company-%07d.com", n)
		k.store(subject{name: name}, result{found: true, ttl: time.Hour, exchanges: "mail." + name}, 0)
	}
	k.entries.CleanUp()
	require.InDelta(t, limit, k.entries.EstimatedSize(), limit/10, "usual exchanges count as one entry")
	for n := range 2 * limit {
		name, a := hostile(n % limit)
		k.store(subject{name: name}, a, 0)
	}
	k.entries.CleanUp()
	bytes := 0
	for s, e := range k.entries.All() {
		bytes += len(s.name) + len(e.exchanges)
	}
	require.NotZero(t, bytes)
	require.LessOrEqual(t, bytes, limit*weightUnit)
}

// The name of a domain does not stay in memory when its result has expired.
func TestCacheForgets(t *testing.T) {
	k, clock := newTestCache(t, 100)
	k.store(subject{name: "short.test"}, result{ttl: time.Minute, found: true, exchanges: "mx.provider.test"}, 0)
	k.store(subject{name: "long.test"}, result{ttl: time.Hour, found: true, exchanges: "mx.provider.test"}, 0)
	k.store(subject{name: "none.test"}, result{ttl: time.Minute}, 0)
	k.storeFailure(subject{name: "failed.test"}, &Error{Kind: Timeout, Reason: NoReply}, nil)
	clock.advance(2 * time.Minute)
	k.entries.CleanUp()
	require.Equal(t, 2, k.entries.EstimatedSize(), "a true that may be served stale stays")
	clock.advance(24 * time.Hour)
	k.entries.CleanUp()
	require.Equal(t, 1, k.entries.EstimatedSize())
	e, _ := k.get(subject{name: "long.test"})
	require.Equal(t, "mx.provider.test", e.exchanges)
}

// No lookup that the cache serves allocates.
func TestCachedLookupAllocs(t *testing.T) {
	server := mxtest.New(t, zone)
	server.Respond("broken.test", mxtest.ServFail)
	r, _ := openAt(t, Config{}, server.Addr)
	for _, domain := range []string{"example.test", "two.example.test", "mail.example.test", "no.test", "broken.test"} {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			_, _ = r.Lookup(t.Context(), testAccount, domain)
			_, _, _ = r.Peek(domain)
			_, _ = r.lookup(t.Context(), testAccount, subject{domain, addressRecords})
		}), domain)
	}
}

// hostile returns the n-th of the longest domains, with as many exchanges as are kept.
func hostile(n int) (string, result) {
	name := fmt.Sprintf("%08d%s", n, strings.Repeat("."+strings.Repeat("a", 48), 5))
	return name, result{found: true, ttl: time.Hour, exchanges: fmt.Sprintf("%0*d *", maxExchanges-2, n)}
}
