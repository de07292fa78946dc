package mx

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// These tests are about accounts that share the slots of a Resolver. Package limit has those
// of the shares themselves.

// occupy looks domains up to which no resolver replies. It returns once all of the lookups are
// in flight and no account that may run one waits.
func occupy(t testing.TB, r *Resolver, ctx context.Context, waiting int, domains ...string) {
	t.Helper()
	before := r.Stats().InFlight
	for _, domain := range domains {
		go func() { _, _ = r.Lookup(ctx, testAccount, domain) }()
	}
	eventually(t, func() bool {
		s := r.Stats()
		return s.InFlight == before+len(domains) && s.Waiting == waiting
	})
}

const otherAccount = testAccount + 1

// openCrowded returns a Resolver that gets no replies. testAccount has as many lookups running
// as it may, until leave is called.
func openCrowded(t testing.TB, c Config) (r *Resolver, server *mxtest.Server, leave context.CancelFunc) {
	server = mxtest.New(t, zone)
	server.RespondAll(mxtest.Silent)
	c.Concurrency, c.Timeout, c.interval = 8, time.Minute, time.Hour
	r = open(t, c, server.Addr)
	ctx, leave := context.WithCancel(context.Background())
	t.Cleanup(leave)
	occupy(t, r, ctx, 0, "silent-1.test", "silent-2.test")
	eventually(t, func() bool { return r.Stats().UDP == 2 })
	return r, server, leave
}

func TestLookupOverLimitDelaysNoOtherAccount(t *testing.T) {
	r, server, leave := openCrowded(t, Config{})
	server.Respond("example.test", mxtest.Answer)
	server.Respond("two.example.test", mxtest.Answer)
	mine := make(chan error)
	go func() { _, err := r.Lookup(context.Background(), testAccount, "two.example.test"); mine <- err }()
	eventually(t, func() bool { return r.Stats().Waiting == 1 })

	found, err := r.Lookup(context.Background(), otherAccount, "example.test")
	require.NoError(t, err)
	require.True(t, found.MX)
	require.Zero(t, server.Asked("two.example.test"), "the first account has to wait")
	leave()
	require.NoError(t, <-mine, "its slots are free again")
}

// A flight waits in the share of each account that wants it. Both accounts get the result as
// soon as one of them has a slot.
func TestFairQueueSharedFlight(t *testing.T) {
	r, server, leave := openCrowded(t, Config{})
	server.Respond("example.test", mxtest.Answer)
	ended := make(chan error)
	lookup := func(account int64) {
		_, err := r.Lookup(context.Background(), account, "example.test")
		ended <- err
	}
	go lookup(testAccount)
	eventually(t, func() bool { return r.Stats().Waiting == 1 })
	go lookup(testAccount)
	eventually(t, func() bool { return r.Stats().Shared == 1 })
	require.Equal(t, 1, r.Stats().Waiting, "once for each account")
	go lookup(otherAccount)
	for range 3 {
		require.NoError(t, <-ended)
	}
	require.Equal(t, 1, server.Asked("example.test"))
	require.EqualValues(t, 2, r.Stats().Shared)
	eventually(t, func() bool { return r.Stats().Waiting == 0 })
	leave()
	eventually(t, func() bool { return r.Stats().InFlight == 0 })
}

// If any number of accounts take all they can get, the next one is served at once.
func TestFairQueueServesNextAccount(t *testing.T) {
	server := mxtest.New(t, zone)
	server.RespondAll(mxtest.Silent)
	server.Respond("example.test", mxtest.Answer)
	r := open(t, Config{Concurrency: 16}, server.Addr)
	ctx, leave := context.WithCancel(context.Background())
	t.Cleanup(leave)
	for account := range int64(5) {
		for n := range 8 {
			go func() { _, _ = r.Lookup(ctx, account, fmt.Sprintf("%d-%d.test", account, n)) }()
		}
	}
	eventually(t, func() bool { return r.Stats().InFlight == 40 && r.Stats().Waiting > 40-16 })
	found, err := r.Lookup(context.Background(), 99, "example.test")
	require.NoError(t, err)
	require.True(t, found.MX)
}

// The account that started a flight leaves while it runs for another account.
func TestFirstAccountLeaves(t *testing.T) {
	r, server, _ := openCrowded(t, Config{})
	respond := make(chan struct{})
	server.Respond("example.test", func(w dns.ResponseWriter, reply *dns.Msg) { <-respond; mxtest.Answer(w, reply) })
	ctx, leave := context.WithCancel(context.Background())
	first, second := make(chan error), make(chan error)
	go func() { _, err := r.Lookup(ctx, testAccount, "example.test"); first <- err }()
	eventually(t, func() bool { return r.Stats().Waiting == 1 })
	go func() { _, err := r.Lookup(context.Background(), otherAccount, "example.test"); second <- err }()
	eventually(t, func() bool { return server.Asked("example.test") == 1 })
	leave()
	require.ErrorIs(t, <-first, context.Canceled)
	close(respond)
	require.NoError(t, <-second)
}

// A flight that waits ends when its last caller leaves. One whose first account leaves waits on
// for the other.
func TestLeavingFreesPlace(t *testing.T) {
	r, server, _ := openCrowded(t, Config{accountWaiting: 2})
	ctx, leave := context.WithCancel(context.Background())
	occupy(t, r, ctx, 2, "a.test", "b.test")
	_, err := r.Lookup(context.Background(), testAccount, "example.test")
	requireError(t, err, Limited, AccountLimit)
	require.EqualValues(t, 1, r.Stats().Refused)
	leave()
	eventually(t, func() bool { return r.Stats().Waiting == 0 })
	occupy(t, r, t.Context(), 2, "c.test", "d.test")
	require.Equal(t, 4, r.Stats().InFlight)
	require.Zero(t, server.Asked("a.test"))
}

// If no slot becomes free in time, the lookup times out without a query, so nothing is cached:
// neither a failure nor a stale result as fresh.
func TestNoSlotInTime(t *testing.T) {
	server := mxtest.New(t, ttlZone)
	c := Config{Concurrency: 1, Timeout: 2 * time.Minute, staleWait: time.Minute}
	r, clock := openAt(t, c, server.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "usual.test")
	require.NoError(t, err)
	clock.advance(301 * time.Second)
	require.NoError(t, r.slots.Take(t.Context(), 0, 1))
	r.config.Timeout = 200 * time.Millisecond
	stale := make(chan bool)
	go func() {
		found, err := r.Lookup(context.Background(), testAccount, "usual.test")
		stale <- found.MX && err == nil
	}()
	_, err = r.Lookup(context.Background(), testAccount, "alias.test")
	requireError(t, err, Timeout, NoSlot)
	require.True(t, <-stale)
	s := r.Stats()
	require.Equal(t, []uint64{2, 0}, []uint64{s.Expired, s.Timeouts})
	require.Zero(t, s.InFlight+s.Waiting)
	for _, domain := range []string{"usual.test", "alias.test"} {
		_, known, _ := r.Peek(domain)
		require.False(t, known)
	}
	r.slots.Free(0, 1)
	r.config.Timeout = 2 * time.Minute
	for _, domain := range []string{"usual.test", "alias.test"} {
		found, err := r.Lookup(context.Background(), testAccount, domain)
		require.NoError(t, err)
		require.True(t, found.MX)
	}
}

// A flight whose wait ends in the share of one account waits on in that of another, which joined
// later, for the whole timeout.
func TestWaitExpiresPerAccount(t *testing.T) {
	server := mxtest.New(t, zone)
	r := open(t, Config{Concurrency: 1}, server.Addr)
	require.NoError(t, r.slots.Take(t.Context(), 0, 1))
	r.config.Timeout = 100 * time.Millisecond
	ended := map[int64]chan error{testAccount: make(chan error), otherAccount: make(chan error)}
	lookup := func(account int64) {
		_, err := r.Lookup(context.Background(), account, "example.test")
		ended[account] <- err
	}
	go lookup(testAccount)
	eventually(t, func() bool { return r.Stats().Waiting == 1 })
	r.config.Timeout = 2 * time.Minute
	go lookup(otherAccount)
	requireError(t, <-ended[testAccount], Timeout, NoSlot)
	require.Equal(t, 1, r.Stats().Waiting)
	r.slots.Free(0, 1)
	require.NoError(t, <-ended[otherAccount])
}

func TestCloseEndsWaits(t *testing.T) {
	server := mxtest.New(t, zone)
	r := open(t, Config{Concurrency: 1}, server.Addr)
	require.NoError(t, r.slots.Take(t.Context(), 0, 1))
	ended := make(chan error)
	go func() { _, err := r.Lookup(context.Background(), testAccount, "example.test"); ended <- err }()
	eventually(t, func() bool { return r.Stats().Waiting == 1 })
	r.Close()
	requireError(t, <-ended, Failure, Closed)
	udp, _ := server.Queries()
	require.Zero(t, udp)
}

// Five accounts flood the resolver with domains that get no reply. Lookups of another account
// get results, and nothing runs or waits in the end.
func TestFloodDoesNotBlockOtherAccounts(t *testing.T) {
	server := mxtest.New(t, "*.bulk.test. 300 IN MX 10 mail.test.")
	server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
		if reply.Question[0].Name[0] != 's' {
			mxtest.Answer(w, reply)
		}
	})
	r := open(t, Config{Timeout: time.Minute, interval: time.Hour}, server.Addr)
	ctx, leave := context.WithCancel(context.Background())
	var callers sync.WaitGroup
	for account := range int64(5) {
		for i := range 200 {
			callers.Go(func() { _, _ = r.Lookup(ctx, account, fmt.Sprintf("s-%d-%d.bulk.test", account, i)) })
		}
	}
	eventually(t, func() bool { return r.Stats().InFlight == 1000 })
	for i := range 50 {
		callers.Go(func() {
			found, err := r.Lookup(context.Background(), 99, fmt.Sprintf("fine-%d.bulk.test", i))
			require.NoError(t, err)
			require.True(t, found.MX)
		})
	}
	eventually(t, func() bool { return r.Stats().Found == 50 })
	leave()
	callers.Wait()
	eventually(t, func() bool { return r.Stats().InFlight+r.Stats().Waiting == 0 })
	for range 256 { // every slot is free
		require.NoError(t, r.slots.Take(t.Context(), 0, 1))
		r.slots.Free(0, 1)
	}
}
