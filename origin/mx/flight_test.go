package mx

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

func eventually(t testing.TB, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, 2*time.Minute, time.Millisecond)
}

// start looks domain up, and returns a channel that gets the error.
func start(ctx context.Context, r *Resolver, account int64, domain string) <-chan error {
	ended := make(chan error, 1)
	go func() {
		found, err := r.Lookup(ctx, account, domain)
		if err == nil && !found.MX {
			err = fmt.Errorf("%s has no MX", domain)
		}
		ended <- err
	}()
	return ended
}

// gate returns a Responder that replies once release is called.
func gate() (then mxtest.Responder, release func()) {
	opened := make(chan struct{})
	return func(w dns.ResponseWriter, reply *dns.Msg) { <-opened; mxtest.Answer(w, reply) }, func() { close(opened) }
}

// Callers of one name share one query, also after the first of them has left.
func TestCallersShareOneQuery(t *testing.T) {
	server := mxtest.New(t, zone)
	respond, release := gate()
	server.RespondAll(respond)
	r := open(t, Config{}, server.Addr)
	ctx, leave := context.WithCancel(t.Context())
	first := start(ctx, r, testAccount, "example.test")
	eventually(t, func() bool { return server.Asked("example.test") == 1 })
	var others []<-chan error
	for range 100 {
		others = append(others, start(t.Context(), r, testAccount, "example.test"))
	}
	eventually(t, func() bool { return r.Stats().Shared == 100 })
	leave()
	require.ErrorIs(t, <-first, context.Canceled)
	release()
	for _, other := range others {
		require.NoError(t, <-other)
	}
	require.Equal(t, 1, server.Asked("example.test"))
	s := r.Stats()
	require.Equal(t, []uint64{1, 100, 1, 0}, []uint64{s.Misses, s.Shared, s.Found, s.Hits})
	require.Positive(t, s.Spent)
}

// The last caller to leave cancels the flight: its slot is free, and no failure
// is cached.
func TestLastCallerCancelsFlight(t *testing.T) {
	server := mxtest.New(t, zone)
	server.RespondAll(mxtest.Silent)
	r := open(t, Config{Concurrency: 1}, server.Addr)
	ctx, leave := context.WithCancel(t.Context())
	first, second := start(ctx, r, testAccount, "example.test"), start(ctx, r, testAccount, "example.test")
	eventually(t, func() bool { return server.Asked("example.test") > 0 && r.Stats().Shared == 1 })
	leave()
	require.ErrorIs(t, <-first, context.Canceled)
	require.ErrorIs(t, <-second, context.Canceled)
	require.Zero(t, r.Stats().InFlight)

	server.RespondAll(mxtest.Answer)
	requireMX(t, r, true, "two.example.test")
	requireMX(t, r, true, "example.test")
	s := r.Stats()
	require.Zero(t, s.Timeouts+s.Failures, "a cancelled flight has no outcome")
}

// A cancelled flight may finish after the next one of its name has started.
func TestFlightsEnd(t *testing.T) {
	about := subject{name: "example.test"}
	old, young := &flight{subject: about, cancel: func() {}}, &flight{subject: about, cancel: func() {}}
	r := &Resolver{flights: map[subject]*flight{about: young}}
	r.end(old)
	require.Same(t, young, r.flights[about])
	r.end(young)
	require.Empty(t, r.flights)
}

// A slot that comes when the flight runs already, or when its callers have left, is given back.
func TestSlotIsGivenBack(t *testing.T) {
	r := open(t, Config{Concurrency: 1}, down(t))
	at := new(seat)
	at.ctx, at.cancel = context.WithCancel(t.Context())
	r.wait(&flight{}, testAccount, at)
	require.NoError(t, r.slots.Take(ended, otherAccount, 1))
}

// Close ends lookups that run and those that wait for a slot. Cached results are still served.
func TestClose(t *testing.T) {
	server := mxtest.New(t, zone)
	server.Respond("slow.test", mxtest.Silent)
	r := open(t, Config{Concurrency: 1}, server.Addr)
	requireMX(t, r, true, "example.test")
	runs := start(t.Context(), r, testAccount, "slow.test")
	eventually(t, func() bool { return server.Asked("slow.test") > 0 })
	waits := start(t.Context(), r, testAccount, "two.example.test")
	eventually(t, func() bool { return r.Stats().Waiting == 1 })
	r.Close()
	requireError(t, <-runs, Failure, Closed)
	requireError(t, <-waits, Failure, Closed)
	requireFailure(t, r, Failure, Closed, "new.test")
	requireMX(t, r, true, "example.test")
	require.Zero(t, server.Asked("two.example.test")+server.Asked("new.test"))
}

// When its last caller leaves, a lookup closes its socket. Close ends all goroutines.
func TestCancellationFreesEverything(t *testing.T) {
	server := mxtest.New(t, zone)
	server.RespondAll(mxtest.Silent)
	r := open(t, Config{Timeout: time.Minute, interval: 5 * time.Millisecond}, server.Addr)
	goroutines, sockets := runtime.NumGoroutine(), openFiles(t)
	ctx, leave := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	for i := range 50 {
		callers.Go(func() { _, _ = r.Lookup(ctx, testAccount, fmt.Sprintf("%d.test", i)) })
	}
	eventually(t, func() bool { return r.Stats().UDP >= 100 })
	require.Greater(t, openFiles(t), sockets, "the queries have sockets")
	leave()
	callers.Wait()
	eventually(t, func() bool { return openFiles(t) <= sockets })
	r.Close()
	const watcher = 1 // goroutine of eventually
	eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+watcher })
}

func openFiles(t testing.TB) int {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc to count open files: ", err)
	}
	return len(files)
}

func TestConcurrencyIsCapped(t *testing.T) {
	const limit = 4
	server := mxtest.New(t, "*.test. 300 IN MX 10 mail.test.")
	together, most := mxtest.Together(t, limit)
	server.RespondAll(together)
	r := open(t, Config{Concurrency: limit}, server.Addr)
	var callers []<-chan error
	for i := range 60 {
		callers = append(callers, start(t.Context(), r, int64(i), fmt.Sprintf("%d.test", i)))
	}
	for _, caller := range callers {
		require.NoError(t, <-caller)
	}
	require.EqualValues(t, limit, most.Load())
}

// For the race detector: callers leave at different times while the resolver
// fails in different ways. None gets a wrong result.
func TestConcurrentCallersAndFailures(t *testing.T) {
	server := mxtest.New(t, "*.test. 1 IN MX 10 mail.test.")
	responders := []mxtest.Responder{mxtest.Answer, mxtest.Silent, mxtest.ServFail, wrongID, mxtest.Truncated}
	for i := range 20 {
		server.Respond(fmt.Sprintf("%d.test", i), responders[i%len(responders)])
	}
	c := shortTimeout
	c.cacheEntries, c.Concurrency, c.MinTTL, c.FailureTTL = 10, 8, time.Millisecond, time.Millisecond
	r := open(t, c, server.Addr)
	var callers sync.WaitGroup
	for worker := range 16 {
		callers.Go(func() {
			for i := range 40 {
				ctx, leave := context.WithTimeout(t.Context(), time.Duration(worker*i%30)*time.Millisecond)
				found, err := r.Lookup(ctx, testAccount, fmt.Sprintf("%d.test", (worker+i)%20))
				require.True(t, found.MX || err != nil, "every name has an MX record")
				leave()
			}
		})
	}
	callers.Wait()
	eventually(t, func() bool { return r.Stats().InFlight == 0 })
}

// The tests below are about accounts that share the slots of a Resolver. Package limit has those
// of the shares themselves.

const otherAccount = testAccount + 1

// occupy looks domains up to which no resolver replies. It returns once all of the lookups are
// in flight and no account that may run one waits.
func occupy(t testing.TB, r *Resolver, ctx context.Context, waiting int, domains ...string) {
	t.Helper()
	before := r.Stats().InFlight
	for _, domain := range domains {
		start(ctx, r, testAccount, domain)
	}
	eventually(t, func() bool {
		s := r.Stats()
		return s.InFlight == before+len(domains) && s.Waiting == waiting
	})
}

// openCrowded returns a Resolver that gets no replies. testAccount has as many lookups running
// as it may, until leave is called.
func openCrowded(t testing.TB) (r *Resolver, server *mxtest.Server, leave context.CancelFunc) {
	server = mxtest.New(t, zone)
	server.RespondAll(mxtest.Silent)
	r = open(t, Config{Concurrency: 8}, server.Addr)
	ctx, leave := context.WithCancel(t.Context())
	occupy(t, r, ctx, 0, "silent-1.test", "silent-2.test")
	eventually(t, func() bool { return r.Stats().UDP == 2 })
	return r, server, leave
}

func TestLookupOverLimitDelaysNoOtherAccount(t *testing.T) {
	r, server, leave := openCrowded(t)
	server.Respond("example.test", mxtest.Answer)
	server.Respond("two.example.test", mxtest.Answer)
	mine := start(t.Context(), r, testAccount, "two.example.test")
	eventually(t, func() bool { return r.Stats().Waiting == 1 })

	require.NoError(t, <-start(t.Context(), r, otherAccount, "example.test"))
	require.Zero(t, server.Asked("two.example.test"), "the first account has to wait")
	leave()
	require.NoError(t, <-mine, "its slots are free again")
}

// A flight waits in the share of each account that wants it, and runs as soon as one of them has
// a slot. It goes on when the account that started it leaves.
func TestFairQueueSharedFlight(t *testing.T) {
	r, server, leaveAll := openCrowded(t)
	respond, release := gate()
	server.Respond("example.test", respond)
	ctx, leave := context.WithCancel(t.Context())
	first := start(ctx, r, testAccount, "example.test")
	eventually(t, func() bool { return r.Stats().Waiting == 1 })
	second := start(t.Context(), r, testAccount, "example.test")
	eventually(t, func() bool { return r.Stats().Shared == 1 })
	require.Equal(t, 1, r.Stats().Waiting, "once for each account")
	other := start(t.Context(), r, otherAccount, "example.test")
	eventually(t, func() bool { return server.Asked("example.test") == 1 && r.Stats().Waiting == 0 })
	leave()
	require.ErrorIs(t, <-first, context.Canceled)
	release()
	require.NoError(t, <-second)
	require.NoError(t, <-other)
	require.Equal(t, 1, server.Asked("example.test"))
	leaveAll()
	eventually(t, func() bool { return r.Stats().InFlight == 0 })
}

// If any number of accounts take all they can get, the next one is served at once. When they
// have left, every slot is free.
func TestFairQueueServesNextAccount(t *testing.T) {
	const slots = 16
	server := mxtest.New(t, zone)
	server.RespondAll(mxtest.Silent)
	server.Respond("example.test", mxtest.Answer)
	r := open(t, Config{Concurrency: slots}, server.Addr)
	ctx, leave := context.WithCancel(t.Context())
	for account := range int64(5) {
		for n := range 8 {
			start(ctx, r, account, fmt.Sprintf("%d-%d.test", account, n))
		}
	}
	eventually(t, func() bool { return r.Stats().InFlight == 40 && r.Stats().Waiting > 40-slots })
	require.NoError(t, <-start(t.Context(), r, 99, "example.test"))
	leave()
	eventually(t, func() bool { return r.Stats().InFlight+r.Stats().Waiting == 0 })
	r.Close()
	for account := range int64(slots) {
		require.NoError(t, r.slots.Take(ended, account, 1))
	}
}

// Places to wait are bounded, for an account and in all. A flight that waits ends when its last
// caller leaves, and its place is free.
func TestLeavingFreesPlace(t *testing.T) {
	server := mxtest.New(t, zone)
	r := open(t, Config{Concurrency: 1, maxWaiting: 2, accountWaiting: 2}, server.Addr)
	require.NoError(t, r.slots.Take(t.Context(), 0, 1))
	ctx, leave := context.WithCancel(t.Context())
	occupy(t, r, ctx, 2, "a.test", "b.test")
	requireFailure(t, r, Limited, AccountLimit, "example.test")
	requireError(t, <-start(t.Context(), r, otherAccount, "example.test"), Limited, GlobalLimit)
	require.EqualValues(t, 2, r.Stats().Refused)
	leave()
	eventually(t, func() bool { return r.Stats().Waiting == 0 })
	occupy(t, r, t.Context(), 2, "c.test", "d.test")
	require.Equal(t, 2, r.Stats().InFlight)
	require.Zero(t, server.Names())
}

// If no slot becomes free in time, the lookup times out without a query, so nothing is cached:
// neither a failure nor a stale result as fresh.
func TestNoSlotInTime(t *testing.T) {
	server := mxtest.New(t, ttlZone)
	synctest.Test(t, func(t *testing.T) {
		r, clock := openAt(t, Config{Concurrency: 1, staleWait: time.Hour}, server.Addr)
		requireMX(t, r, true, "usual.test")
		clock.advance(301 * time.Second)
		synctest.Wait() // the slot is free
		require.NoError(t, r.slots.Take(t.Context(), 0, 1))
		stale := start(t.Context(), r, testAccount, "usual.test")
		requireFailure(t, r, Timeout, NoSlot, "other.test")
		require.NoError(t, <-stale)
		s := r.Stats()
		require.Equal(t, []uint64{2, 0}, []uint64{s.Expired, s.Timeouts})
		require.Zero(t, s.InFlight+s.Waiting)
		for _, domain := range []string{"usual.test", "other.test"} {
			_, known, _ := r.Peek(domain)
			require.False(t, known)
		}
		r.slots.Free(0, 1)
		for _, domain := range []string{"usual.test", "other.test"} {
			requireMX(t, r, true, domain)
		}
	})
}

// A flight whose wait ends in the share of one account waits on in that of another, which joined
// later, for the whole timeout.
func TestWaitExpiresPerAccount(t *testing.T) {
	server := mxtest.New(t, zone)
	synctest.Test(t, func(t *testing.T) {
		r, _ := openAt(t, Config{Concurrency: 1}, server.Addr)
		require.NoError(t, r.slots.Take(t.Context(), 0, 1))
		first := start(t.Context(), r, testAccount, "example.test")
		time.Sleep(patient.Timeout - time.Second)
		second := start(t.Context(), r, otherAccount, "example.test")
		requireError(t, <-first, Timeout, NoSlot)
		time.Sleep(patient.Timeout - 2*time.Second)
		require.Equal(t, []int{1, 1}, []int{r.Stats().InFlight, r.Stats().Waiting})
		r.slots.Free(0, 1)
		require.NoError(t, <-second)
	})
}
