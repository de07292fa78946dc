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

const ttlZone = `
example.test.   300 IN SOA ns.example.test. hostmaster.example.test. 1 3600 600 86400 60
usual.test.     300 IN MX 10 mail.test.
unequal.test.   300 IN MX 10 mail.test.
unequal.test.    50 IN MX 20 mail.test.
zero.test.        0 IN MX 10 mail.test.
signbit.test. 4294967295 IN MX 10 mail.test.
month.test. 2592000 IN MX 10 mail.test.
null.test.     7200 IN MX 0 .
alias.test.      40 IN CNAME usual.test.
toolong.test. 7200 IN SOA ns.test. hm.test. 1 3600 600 86400 86400
toolong.test. 7200 IN TXT "no data"
soattl.test.     45 IN SOA ns.test. hm.test. 1 3600 600 86400 300
`

func TestCacheTTL(t *testing.T) {
	for _, test := range []struct {
		why, domain string
		responder   mxtest.Responder
		ttl         time.Duration
	}{
		{"the record's TTL", "usual.test", nil, 300 * time.Second},
		{"the least of the records", "unequal.test", nil, 50 * time.Second},
		{"the least along the CNAMEs", "alias.test", nil, 40 * time.Second},
		{"the least along CNAMEs in several replies", "alias.test", firstHopOnly, 40 * time.Second},
		{"zero, clamped", "zero.test", nil, 10 * time.Second},
		{"top bit set is zero (RFC 2181), clamped", "signbit.test", nil, 10 * time.Second},
		{"a month, clamped", "month.test", nil, 24 * time.Hour},
		{"null MX, clamped as negative", "null.test", nil, time.Hour},
		{"NXDOMAIN: SOA minimum", "none.example.test", nil, 60 * time.Second},
		{"no data: SOA minimum", "example.test", nil, 60 * time.Second},
		{"no data: SOA TTL", "soattl.test", nil, 45 * time.Second},
		{"no data, clamped", "toolong.test", nil, time.Hour},
		{"no SOA: the least TTL", "none.test", nil, 10 * time.Second},
		{"failure", "usual.test", mxtest.ServFail, 2 * time.Second},
	} {
		queries := 1
		if test.why == "failure" {
			queries = 2 // for each lookup
		}
		t.Run(test.why, func(t *testing.T) {
			server := mxtest.New(t, ttlZone)
			server.RespondAll(test.responder)
			r, clock := openAt(t, Config{}, server.Addr)
			asked := func() int {
				_, _ = r.Lookup(context.Background(), testAccount, test.domain)
				return server.Asked(test.domain)
			}
			require.Equal(t, queries, asked())
			clock.advance(test.ttl - time.Second)
			require.Equal(t, queries, asked(), "a second before the TTL ends")
			clock.advance(time.Second)
			require.Equal(t, 2*queries, asked(), "when the TTL ends")
		})
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
	publish := func(records ...string) {
		server.Respond("usual.test", func(w dns.ResponseWriter, reply *dns.Msg) {
			reply.Answer = nil
			for _, text := range records {
				reply.Answer = append(reply.Answer, record("usual.test. 300 IN MX "+text))
			}
			mxtest.Answer(w, reply)
		})
	}
	requireExchanges("mail.test")
	publish("20 mx.usual.test.", "10 new.test.")
	clock.advance(299 * time.Second)
	requireExchanges("mail.test")
	clock.advance(time.Second)
	requireExchanges("new.test mx.usual.test")
	publish("0 .")
	clock.advance(300 * time.Second)
	requireExchanges("")
}

func TestCacheRefreshAfterTTL(t *testing.T) {
	server := mxtest.New(t, ttlZone)
	r, clock := openAt(t, Config{}, server.Addr)
	lookup := func() bool {
		found, err := r.Lookup(context.Background(), testAccount, "usual.test")
		require.NoError(t, err)
		return found.MX
	}
	require.True(t, lookup())
	server.Respond("usual.test", mxtest.Rcode(dns.RcodeNameError))
	require.True(t, lookup())
	clock.advance(301 * time.Second)
	require.False(t, lookup())
}

// A resolver goes down, stays down for two days, and comes back.
func TestStaleWhileResolverIsDown(t *testing.T) {
	server := mxtest.New(t, ttlZone)
	r, clock := openAt(t, Config{}, server.Addr)
	lookup := func() (Result, error) { return r.Lookup(context.Background(), testAccount, "usual.test") }
	requireTrue := func(why string) {
		found, err := lookup()
		require.NoError(t, err, why)
		require.Equal(t, Result{MX: true, Exchanges: "mail.test"}, found, why)
	}
	requireTrue("first lookup")
	server.RespondAll(mxtest.ServFail)
	clock.advance(301 * time.Second)
	requireTrue("stale after a failed refresh")
	require.Equal(t, 3, server.Asked("usual.test"))
	requireTrue("stale, no query within staleRecheck")
	require.Equal(t, 3, server.Asked("usual.test"))
	require.EqualValues(t, 2, r.Stats().Stale)
	clock.advance(31 * time.Second)
	requireTrue("stale, queried again")
	require.Equal(t, 5, server.Asked("usual.test"))

	clock.advance(24 * time.Hour)
	_, err := lookup()
	requireError(t, err, Failure, Rcode)

	server.RespondAll(mxtest.Answer)
	clock.advance(3 * time.Second)
	requireTrue("refreshed")
}

// A domain without MX may have one by now, so its result ends with its TTL even
// if the refresh fails. The failure is cached, so that an outage does not cause a
// lookup for each request.
func TestNegativeAnswerIsNeverStale(t *testing.T) {
	for why, responder := range map[string]mxtest.Responder{"SERVFAIL": mxtest.ServFail, "silence": mxtest.Silent, "garbage": mxtest.Garbage} {
		for domain, ttl := range map[string]time.Duration{"null.test": time.Hour, "none.example.test": time.Minute, "example.test": time.Minute} {
			t.Run(why+"/"+domain, func(t *testing.T) {
				t.Parallel()
				server := mxtest.New(t, ttlZone)
				r, clock := openAt(t, Config{staleWait: time.Millisecond}, server.Addr)
				found, err := r.Lookup(context.Background(), testAccount, domain)
				require.NoError(t, err)
				require.False(t, found.MX)

				server.RespondAll(responder)
				if why == "silence" {
					r.config.Timeout = 200 * time.Millisecond
				}
				clock.advance(ttl)
				_, known, _ := r.Peek(domain)
				require.False(t, known)
				asked := server.Asked(domain)
				for range 3 {
					_, err = r.Lookup(context.Background(), testAccount, domain)
					require.ErrorAs(t, err, new(*Error), "also while the failure is cached")
					_, known, err = r.Peek(domain)
					require.True(t, known)
					require.ErrorAs(t, err, new(*Error))
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
	r, clock := openAt(t, Config{Timeout: time.Minute, AccountConcurrency: 1, accountWaiting: 1}, server.Addr)
	for domain, want := range map[string]bool{"usual.test": true, "unequal.test": true, "null.test": false} {
		found, err := r.Lookup(context.Background(), testAccount, domain)
		require.NoError(t, err)
		require.Equal(t, want, found.MX)
	}
	clock.advance(2 * time.Hour)
	server.RespondAll(mxtest.Silent)
	left, leave := context.WithCancel(context.Background())
	leave()
	expect := func(kind Kind, reason Reason) {
		t.Helper()
		found, err := r.Lookup(context.Background(), testAccount, "unequal.test")
		require.NoError(t, err)
		require.True(t, found.MX)
		found, err = r.Lookup(context.Background(), testAccount, "null.test")
		requireError(t, err, kind, reason)
		require.False(t, found.MX)
	}
	found, err := r.Lookup(left, testAccount, "null.test")
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, found.MX)
	found, err = r.Lookup(left, testAccount, "usual.test")
	require.NoError(t, err)
	require.True(t, found.MX)
	eventually(t, func() bool { return r.Stats().Waiting == 0 })
	require.Equal(t, 1, r.Stats().InFlight, "its refresh uses the slot")

	occupy(t, r, t.Context(), 1, "waiting.test")
	expect(Limited, AccountLimit)
	r.Close()
	expect(Failure, Closed)
}

// If the resolver is silent, one caller waits for staleWait. The refresh goes on
// in the background, and its failure makes the stale result count as fresh.
func TestStaleWait(t *testing.T) {
	server := mxtest.New(t, ttlZone)
	r, clock := openAt(t, Config{staleWait: 20 * time.Millisecond}, server.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "usual.test")
	require.NoError(t, err)
	server.RespondAll(mxtest.Silent)
	clock.advance(301 * time.Second)

	r.config.Timeout = time.Second
	found, err := r.Lookup(context.Background(), testAccount, "usual.test")
	require.NoError(t, err)
	require.True(t, found.MX)
	require.EqualValues(t, 1, r.Stats().Stale, "before the refresh ends")
	eventually(t, func() bool { return r.Stats().InFlight == 0 })
	require.EqualValues(t, 1, r.Stats().Timeouts)
	_, fresh := r.cache.get(subject{name: "usual.test"})
	require.True(t, fresh, "after its failure the next caller does not wait")
}

// A stale result that expires during its refresh is not served.
func TestStaleAnswerExpiresDuringRefresh(t *testing.T) {
	server := mxtest.New(t, ttlZone)
	r, clock := openAt(t, Config{}, server.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "usual.test")
	require.NoError(t, err)
	clock.advance(301 * time.Second)
	server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
		clock.advance(24 * time.Hour)
		mxtest.ServFail(w, reply)
	})
	_, err = r.Lookup(context.Background(), testAccount, "usual.test")
	requireError(t, err, Failure, Rcode)
}

func TestStaleDisabled(t *testing.T) {
	server := mxtest.New(t, ttlZone)
	r, clock := openAt(t, Config{staleFor: -1}, server.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "usual.test")
	require.NoError(t, err)
	server.RespondAll(mxtest.ServFail)
	clock.advance(301 * time.Second)
	_, err = r.Lookup(context.Background(), testAccount, "usual.test")
	requireError(t, err, Failure, Rcode)
}

// A domain is a substring of a request's body, which the cache must not keep in memory.
func TestCacheCopiesName(t *testing.T) {
	r := open(t, Config{}, mxtest.Start(t, ttlZone))
	request := strings.Repeat("x", 1<<20) + "usual.test"
	domain := request[1<<20:]
	_, err := r.Lookup(context.Background(), testAccount, domain)
	require.NoError(t, err)
	for s := range r.cache.entries.All() {
		require.Equal(t, domain, s.name)
		require.NotSame(t, unsafe.StringData(domain), unsafe.StringData(s.name))
	}
	require.Equal(t, 1, r.Stats().Entries)
}

func TestCacheIsBounded(t *testing.T) {
	const limit = 500
	server := mxtest.New(t, "*.test. 300 IN MX 10 mail.test.")
	r := open(t, Config{cacheEntries: limit}, server.Addr)
	for i := range 4 * limit {
		found, err := r.Lookup(context.Background(), testAccount, fmt.Sprintf("%d.test", i))
		require.NoError(t, err)
		require.True(t, found.MX)
	}
	r.cache.entries.CleanUp()
	require.Equal(t, limit, r.Stats().Entries)
}

// Peek serves from the cache and sends no query.
func TestPeekSendsNoQuery(t *testing.T) {
	server := mxtest.New(t, zone)
	server.Respond("broken.test", mxtest.ServFail)
	r, clock := openAt(t, Config{}, server.Addr)
	for domain, want := range map[string]bool{"example.test": true, "null.example.test": false} {
		_, known, err := r.Peek(domain)
		require.NoError(t, err)
		require.False(t, known, "before a lookup")
		_, err = r.Lookup(context.Background(), testAccount, domain)
		require.NoError(t, err)
		for _, spelling := range []string{domain, strings.ToUpper(domain), domain + "."} {
			found, known, err := r.Peek(spelling)
			require.NoError(t, err)
			require.True(t, known)
			require.Equal(t, want, found.MX)
		}
	}
	_, failed := r.Lookup(context.Background(), testAccount, "broken.test")
	_, known, err := r.Peek("broken.test")
	require.True(t, known, "a failure is cached")
	require.Equal(t, failed, err)

	for _, invalid := range []string{"", "a..b", strings.Repeat("a", 64) + ".test"} {
		found, known, err := r.Peek(invalid)
		require.True(t, known && !found.MX && err == nil, invalid)
	}
	clock.advance(25 * time.Hour)
	_, known, _ = r.Peek("example.test")
	require.False(t, known, "no longer fresh")
	require.Equal(t, 1, server.Asked("example.test"))
}

// newTestCache returns a cache of limit domains whose clock is at its start.
func newTestCache(t testing.TB, limit int) (*cache, *fakeClock) {
	clock := new(fakeClock)
	k := newCache(Config{cacheEntries: limit, clock: clock}.withDefaults())
	t.Cleanup(k.close)
	return k, clock
}

// Domains that are looked up often stay in a full cache, although many others are looked up
// once.
func TestCacheKeepsFrequentDomains(t *testing.T) {
	const limit, often = 1000, 100
	k, _ := newTestCache(t, limit)
	for i := range 20 * limit {
		name := subject{name: fmt.Sprint("often ", i%often)}
		if e, _ := k.get(name); !e.found {
			k.store(name, result{found: true, ttl: time.Hour}, 0)
		}
		k.store(subject{name: fmt.Sprint("once ", i)}, result{found: true, ttl: time.Hour}, 0)
	}
	k.entries.CleanUp()
	kept := 0
	for i := range often {
		if e, _ := k.get(subject{name: fmt.Sprint("often ", i)}); e.found {
			kept++
		}
	}
	require.Greater(t, kept, often*9/10)
}

// Somebody who publishes exchanges as long as possible, also for domains that are cached
// already, does not make the cache larger.
func TestCacheBytesAreBounded(t *testing.T) {
	const limit = 1000
	k, _ := newTestCache(t, limit)
	for n := range limit {
		name, a := mixed(n)
		k.store(subject{name: name}, a, 0)
	}
	k.entries.CleanUp()
	require.Greater(t, k.entries.EstimatedSize(), limit*9/10, "usual exchanges leave room")
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
