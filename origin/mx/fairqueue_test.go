package mx

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// queueTest is a fairQueue whose flights run until the test ends them.
type queueTest struct {
	*fairQueue
	t       testing.TB
	running map[*flight]bool
}

func newQueueTest(t testing.TB, c Config) *queueTest {
	all := newFairQueue(c.withDefaults())
	return &queueTest{&all, t, map[*flight]bool{}}
}

// wait enqueues a new flight of the account and starts what may run.
func (qt *queueTest) wait(account int64) (*flight, *waiter) {
	f := &flight{subject: subject{name: fmt.Sprint(account)}}
	w, err := qt.enqueue(account, f)
	require.Nil(qt.t, err)
	qt.startNext()
	return f, w
}

func (qt *queueTest) startNext() (started []*flight) {
	for f := qt.next(); f != nil; f = qt.next() {
		qt.running[f] = true
		started = append(started, f)
	}
	return started
}

func (qt *queueTest) end(f *flight) (started []*flight) {
	require.True(qt.t, qt.running[f])
	delete(qt.running, f)
	qt.release(f)
	return qt.startNext()
}

func (qt *queueTest) slotsOf(account int64) int {
	if q := qt.queues[account]; q != nil {
		return q.slots
	}
	return 0
}

func TestFairQueueAccountLimit(t *testing.T) {
	qt := newQueueTest(t, Config{})
	for range 300 {
		qt.wait(1)
	}
	require.Equal(t, 64, qt.slotsOf(1))
	require.Equal(t, 192, qt.slots.free)
	require.Equal(t, 236, qt.waiting.used())
}

// If any number of accounts take all they can get, at once or one after the
// other, the next account is still served at once.
func TestFairQueueServesNextAccount(t *testing.T) {
	for _, greedy := range []int64{1, 2, 4, 5, 8, 20, 100, 255} {
		qt := newQueueTest(t, Config{maxWaiting: 1 << 20})
		for range 100 {
			for account := range greedy {
				qt.wait(account)
			}
		}
		require.GreaterOrEqual(t, qt.slots.free, 256/int(greedy+1), "%d accounts", greedy)
		f, _ := qt.wait(-1)
		require.True(t, qt.running[f], "%d accounts", greedy)
	}
	qt := newQueueTest(t, Config{maxWaiting: 1 << 20})
	left := 256.0
	for account := range int64(15) {
		for range 100 {
			qt.wait(account)
		}
		left *= 0.75
		require.InDelta(t, left, qt.slots.free, 3, "after %d accounts", account+1)
		require.NotZero(t, qt.slots.free)
	}
}

func TestFairQueueRoundRobin(t *testing.T) {
	qt := newQueueTest(t, Config{Concurrency: 1, maxWaiting: 1000})
	first, _ := qt.wait(0)
	for account := range int64(3) {
		for range account + 2 {
			qt.wait(account)
		}
	}
	var order string
	for now := first; ; {
		started := qt.end(now)
		if len(started) == 0 {
			break
		}
		require.Len(t, started, 1)
		now = started[0]
		order += now.name
	}
	require.Equal(t, "012012122", order)
	require.Empty(t, qt.queues, "accounts without flights have no queue")
}

// A flight in several queues gets a slot from the first account to be served and
// leaves the other queues.
func TestFairQueueSharedFlight(t *testing.T) {
	qt := newQueueTest(t, Config{Concurrency: 8})
	slow := []*flight{}
	for range 2 {
		f, _ := qt.wait(1)
		slow = append(slow, f)
	}
	for range 50 {
		qt.wait(1)
	}
	wanted, mine := qt.wait(1)
	require.False(t, qt.running[wanted], "account 1 is at its limit")

	other, err := qt.enqueue(2, wanted)
	require.Nil(t, err)
	require.NotSame(t, mine, other)
	require.Equal(t, []*flight{wanted}, qt.startNext())
	require.Equal(t, 1, qt.slotsOf(2), "the account that was served uses the slot")
	require.Nil(t, mine.element)
	require.Nil(t, qt.queues[2].element)
	require.Equal(t, 50, qt.waiting.used())
	qt.end(slow[0])
	require.Equal(t, 2, qt.slotsOf(1), "the next flight of account 1 starts")
}

func TestFairQueueOneEntryPerFlight(t *testing.T) {
	qt := newQueueTest(t, Config{Concurrency: 1})
	qt.wait(1)
	f, w := qt.wait(2)
	again, err := qt.enqueue(2, f)
	require.Nil(t, err)
	require.Same(t, w, again)
	require.Equal(t, 1, qt.waiting.used())
}

func TestFairQueueWaitingLimit(t *testing.T) {
	for _, c := range []struct {
		config Config
		greedy int64
		each   int // waiting flights of each account
	}{
		{Config{}, 1, 1024},
		{Config{}, 8, 546},  // 8 x 546 leave 7 x 546 free
		{Config{}, 100, 76}, // each uses 2 or 3 slots
		{Config{maxWaiting: 10, accountWaiting: 4}, 2, 3},
	} {
		qt := newQueueTest(t, c.config)
		for range 1100 {
			for account := range c.greedy {
				if _, err := qt.enqueue(account, new(flight)); err != nil {
					requireError(t, err, Limited, AccountLimit)
				}
				qt.startNext()
			}
		}
		for account := range c.greedy {
			require.InDelta(t, c.each, qt.queues[account].waiters.Len(), 1)
		}
		f, _ := qt.wait(-1)
		require.True(t, qt.running[f] || qt.queues[-1].waiters.Len() == 1)
	}
}

// An account without an entry gets GlobalLimit, another one AccountLimit.
func TestFairQueueGlobalLimit(t *testing.T) {
	qt := newQueueTest(t, Config{Concurrency: 1, maxWaiting: 3})
	for account := range int64(4) {
		qt.wait(account)
	}
	_, err := qt.enqueue(9, new(flight))
	requireError(t, err, Limited, GlobalLimit)
	_, err = qt.enqueue(3, new(flight))
	requireError(t, err, Limited, AccountLimit)
	require.NotContains(t, qt.queues, int64(9))
}

// FuzzFairQueue checks that, after any sequence of events, the counters are right
// and no account waits that may have a slot, and that the queue is empty in the
// end.
func FuzzFairQueue(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 64, 65, 128, 129, 130, 192, 193})
	const most = 512 // steps
	seed := make([]byte, most)
	for n := range seed {
		seed[n] = byte(rand.N(256))
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, steps []byte) {
		qt := newQueueTest(t, Config{Concurrency: 12, maxWaiting: 24, accountWaiting: 9})
		var flights []*flight
		for _, step := range steps[:min(most, len(steps))] {
			flights = qt.step(step, flights)
			qt.requireConsistent()
		}
		for _, f := range flights {
			qt.finish(f)
		}
		require.Empty(t, qt.queues)
		require.Zero(t, qt.ring.Len())
		require.Zero(t, qt.slots.used()+qt.waiting.used())
	})
}

// step enqueues a new or an earlier flight for one of 8 accounts, or ends one.
func (qt *queueTest) step(step byte, flights []*flight) []*flight {
	account, what, which := int64(step&7), step>>6, int(step>>3&7)
	if what == 0 || len(flights) == 0 {
		flights = append(flights, new(flight))
		which, what = 0, 1
	}
	f := flights[max(0, len(flights)-1-which)]
	switch {
	case what == 1 && f.owner == nil:
		_, _ = qt.enqueue(account, f)
		qt.startNext()
	case what == 2:
		qt.finish(f)
	case what == 3 && len(f.waiters) > 0:
		qt.remove(f.waiters[0])
	}
	return flights
}

// finish ends f, running or waiting.
func (qt *queueTest) finish(f *flight) {
	for len(f.waiters) > 0 {
		qt.remove(f.waiters[0])
	}
	if qt.running[f] {
		qt.end(f)
	}
}

func (qt *queueTest) requireConsistent() {
	held, waiting := 0, 0
	for _, q := range qt.queues {
		held, waiting = held+q.slots, waiting+q.waiters.Len()
		if q.slots+q.waiters.Len() == 0 || q.waiters.Len() > 0 != (q.element != nil) {
			qt.t.Fatalf("account %d has %d slots and %d waiters", q.account, q.slots, q.waiters.Len())
		}
		if q.element != nil && qt.slots.allows(q.slots) {
			qt.t.Fatalf("account %d waits and may have a slot", q.account)
		}
	}
	if held != qt.slots.used() || held != len(qt.running) || waiting != qt.waiting.used() {
		qt.t.Fatalf("accounts have %d slots of %d used, %d waiters of %d", held, qt.slots.used(), waiting, qt.waiting.used())
	}
}

// occupy looks domains up to which no resolver replies. It returns once all of the
// lookups are in flight.
func occupy(t testing.TB, r *Resolver, ctx context.Context, domains ...string) {
	t.Helper()
	before := r.Stats().InFlight
	for _, domain := range domains {
		go func() { _, _ = r.Lookup(ctx, testAccount, domain) }()
	}
	eventually(t, func() bool { return r.Stats().InFlight == before+len(domains) })
}

const otherAccount = testAccount + 1

// openCrowded returns a Resolver that gets no replies. testAccount has as many
// lookups running as it may, until leave is called.
func openCrowded(t testing.TB, c Config) (r *Resolver, server *mxtest.Server, leave context.CancelFunc) {
	server = mxtest.New(t, zone)
	server.RespondAll(mxtest.Silent)
	c.Concurrency, c.Timeout, c.hedge = 8, time.Minute, time.Hour
	r = open(t, c, server.Addr)
	ctx, leave := context.WithCancel(context.Background())
	t.Cleanup(leave)
	occupy(t, r, ctx, "silent-1.test", "silent-2.test")
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

// Both accounts get the result as soon as one of them is served.
func TestLookupJoinsWaitingFlight(t *testing.T) {
	r, server, _ := openCrowded(t, Config{})
	server.Respond("example.test", mxtest.Answer)
	ended := make(chan error)
	lookup := func(account int64) { _, err := r.Lookup(context.Background(), account, "example.test"); ended <- err }
	go lookup(testAccount)
	eventually(t, func() bool { return r.Stats().Waiting == 1 })
	go lookup(otherAccount)
	require.NoError(t, <-ended)
	require.NoError(t, <-ended)
	require.Equal(t, 1, server.Asked("example.test"))
	require.EqualValues(t, 1, r.Stats().Shared)
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

// A waiting flight is removed when its last caller leaves.
func TestLeavingFreesQueueEntry(t *testing.T) {
	r, server, _ := openCrowded(t, Config{accountWaiting: 2})
	ctx, leave := context.WithCancel(context.Background())
	occupy(t, r, ctx, "a.test", "b.test")
	_, err := r.Lookup(context.Background(), testAccount, "example.test")
	requireError(t, err, Limited, AccountLimit)
	require.EqualValues(t, 1, r.Stats().Refused)
	leave()
	eventually(t, func() bool { return r.Stats().Waiting == 0 })
	occupy(t, r, t.Context(), "c.test", "qt.test")
	require.Equal(t, 4, r.Stats().InFlight)
	require.Zero(t, server.Asked("a.test"))
}

// If no slot becomes free in time, the lookup times out without a query, so
// nothing is cached: neither a failure nor a stale result as fresh.
func TestNoSlotInTime(t *testing.T) {
	server := mxtest.New(t, ttlZone)
	c := Config{Concurrency: 1, Timeout: 2 * time.Minute, staleWait: time.Minute}
	r, clock := openAt(t, c, server.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "usual.test")
	require.NoError(t, err)
	clock.advance(301 * time.Second)
	release := takeOnlySlot(r)
	r.timeout = 200 * time.Millisecond
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
	release()
	r.timeout = 2 * time.Minute
	for _, domain := range []string{"usual.test", "alias.test"} {
		found, err := r.Lookup(context.Background(), testAccount, domain)
		require.NoError(t, err)
		require.True(t, found.MX)
	}
}

// takeOnlySlot takes the only slot until release is called.
func takeOnlySlot(r *Resolver) (release func()) {
	r.flights.mu.Lock()
	defer r.flights.mu.Unlock()
	f := new(flight)
	_, _ = r.flights.queue.enqueue(0, f)
	r.flights.queue.next()
	return func() { r.finish(f, &entry{}) }
}

// A flight whose wait ends in the queue of one account keeps waiting in the queue
// of another, which joined later, for the whole timeout.
func TestWaitExpiresPerAccount(t *testing.T) {
	server := mxtest.New(t, zone)
	r := open(t, Config{Concurrency: 1}, server.Addr)
	release := takeOnlySlot(r)
	r.timeout = 200 * time.Millisecond
	ended := map[int64]chan error{testAccount: make(chan error), otherAccount: make(chan error)}
	for account, done := range ended {
		go func() { _, err := r.Lookup(context.Background(), account, "example.test"); done <- err }()
	}
	eventually(t, func() bool { return r.Stats().Waiting == 2 })
	r.flights.mu.Lock()
	first := r.flights.bySubject[subject{name: "example.test"}].waiterIn(r.flights.queue.queues[testAccount])
	r.flights.mu.Unlock()
	r.expire(first)
	requireError(t, <-ended[testAccount], Timeout, NoSlot)
	release()
	require.NoError(t, <-ended[otherAccount])
}

func TestCloseEndsWaits(t *testing.T) {
	server := mxtest.New(t, zone)
	r := open(t, Config{Concurrency: 1}, server.Addr)
	takeOnlySlot(r)
	ended := make(chan error)
	go func() { _, err := r.Lookup(context.Background(), testAccount, "example.test"); ended <- err }()
	eventually(t, func() bool { return r.Stats().Waiting == 1 })
	r.Close()
	requireError(t, <-ended, Failure, Closed)
	udp, _ := server.Queries()
	require.Zero(t, udp)
}

// Five accounts flood the resolver with domains that get no reply. Lookups of
// another account get results, and the queue is empty in the end.
func TestFloodDoesNotBlockOtherAccounts(t *testing.T) {
	server := mxtest.New(t, "*.bulk.test. 300 IN MX 10 mail.test.")
	server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
		if reply.Question[0].Name[0] != 's' {
			mxtest.Answer(w, reply)
		}
	})
	r := open(t, Config{Timeout: time.Minute, hedge: time.Hour}, server.Addr)
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
			found, err := r.Lookup(context.Background(), otherAccount+10, fmt.Sprintf("fine-%d.bulk.test", i))
			require.NoError(t, err)
			require.True(t, found.MX)
		})
	}
	eventually(t, func() bool { return r.Stats().Found == 50 })
	leave()
	callers.Wait()
	eventually(t, func() bool {
		r.flights.mu.Lock()
		defer r.flights.mu.Unlock()
		turns := &r.flights.queue
		return len(r.flights.bySubject)+len(turns.queues)+turns.ring.Len()+turns.slots.used()+turns.waiting.used() == 0
	})
}
