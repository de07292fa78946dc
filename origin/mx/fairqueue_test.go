package mx

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/addrspec/addrspec/origin/mx/mxtest"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// desk is turns with flights that last until the test ends them.
type queueTest struct {
	*fairQueue
	t      testing.TB
	asking map[*flight]bool
}

func newQueueTest(t testing.TB, c Config) *queueTest {
	all := newFairQueue(c.withDefaults())
	return &queueTest{&all, t, map[*flight]bool{}}
}

// wait has a new flight of the account wait for a slot.
func (d *queueTest) wait(account int64) (*flight, *waiter) {
	f := &flight{name: fmt.Sprint(account)}
	p, err := d.enqueue(account, f)
	require.Nil(d.t, err)
	d.startNext()
	return f, p
}

func (d *queueTest) startNext() (launched []*flight) {
	for f := d.next(); f != nil; f = d.next() {
		d.asking[f] = true
		launched = append(launched, f)
	}
	return launched
}

func (d *queueTest) end(f *flight) (launched []*flight) {
	require.True(d.t, d.asking[f])
	delete(d.asking, f)
	d.release(f)
	return d.startNext()
}

func (d *queueTest) held(account int64) int {
	if q := d.queues[account]; q != nil {
		return q.slots
	}
	return 0
}

func TestOneAccountHoldsAQuarter(t *testing.T) {
	d := newQueueTest(t, Config{})
	for range 300 {
		d.wait(1)
	}
	require.Equal(t, 64, d.held(1))
	require.Equal(t, 192, d.slots.free)
	require.Equal(t, 236, d.waiting.used())
}

// However many accounts take all they can get, side by side or one after the
// other, the next one is served at once.
func TestTheNextAccountIsServedAtOnce(t *testing.T) {
	for _, greedy := range []int64{1, 2, 4, 5, 8, 20, 100, 255} {
		d := newQueueTest(t, Config{MaxWaiting: 1 << 20})
		for range 100 {
			for account := range greedy {
				d.wait(account)
			}
		}
		require.GreaterOrEqual(t, d.slots.free, 256/int(greedy+1), "%d accounts", greedy)
		f, _ := d.wait(-1)
		require.True(t, d.asking[f], "%d accounts", greedy)
	}
	d := newQueueTest(t, Config{MaxWaiting: 1 << 20})
	left := 256.0
	for account := range int64(15) {
		for range 100 {
			d.wait(account)
		}
		left *= 0.75
		require.InDelta(t, left, d.slots.free, 3, "after %d accounts", account+1)
		require.NotZero(t, d.slots.free)
	}
}

func TestAccountsTakeTurns(t *testing.T) {
	d := newQueueTest(t, Config{Concurrency: 1, MaxWaiting: 1000})
	first, _ := d.wait(0)
	for account := range int64(3) {
		for range account + 2 {
			d.wait(account)
		}
	}
	var order string
	for now := first; ; {
		launched := d.end(now)
		if len(launched) == 0 {
			break
		}
		require.Len(t, launched, 1)
		now = launched[0]
		order += now.name
	}
	require.Equal(t, "012012122", order)
	require.Empty(t, d.queues, "nothing is kept of accounts without look-ups")
}

// A flight that several accounts wait for gets its slot in the first turn of any
// of them, and gives up its other places.
func TestAFlightWaitsInEveryQueueThatWantsIt(t *testing.T) {
	d := newQueueTest(t, Config{Concurrency: 8})
	slow := []*flight{}
	for range 2 {
		f, _ := d.wait(1)
		slow = append(slow, f)
	}
	for range 50 {
		d.wait(1)
	}
	wanted, mine := d.wait(1)
	require.False(t, d.asking[wanted], "account 1 has its share")

	other, err := d.enqueue(2, wanted)
	require.Nil(t, err)
	require.NotSame(t, mine, other)
	require.Equal(t, []*flight{wanted}, d.startNext())
	require.Equal(t, 1, d.held(2), "it takes the slot of the account whose turn it was")
	require.Nil(t, mine.element)
	require.Nil(t, d.queues[2].element)
	require.Equal(t, 50, d.waiting.used())
	d.end(slow[0])
	require.Equal(t, 2, d.held(1), "and the queue goes on")
}

func TestAnAccountHasOnePlaceForAFlight(t *testing.T) {
	d := newQueueTest(t, Config{Concurrency: 1})
	d.wait(1)
	f, p := d.wait(2)
	again, err := d.enqueue(2, f)
	require.Nil(t, err)
	require.Same(t, p, again)
	require.Equal(t, 1, d.waiting.used())
}

func TestWaitingIsBounded(t *testing.T) {
	for _, c := range []struct {
		config Config
		greedy int64
		each   int // that wait
	}{
		{Config{}, 1, 1024},
		{Config{}, 8, 546},  // 8 x 546 leave 7 x 546
		{Config{}, 100, 76}, // of the slots each has 2 or 3
		{Config{MaxWaiting: 10, AccountWaiting: 4}, 2, 3},
	} {
		d := newQueueTest(t, c.config)
		for range 1100 {
			for account := range c.greedy {
				if _, err := d.enqueue(account, new(flight)); err != nil {
					requireError(t, err, Limited, AccountLimit)
				}
				d.startNext()
			}
		}
		for account := range c.greedy {
			require.InDelta(t, c.each, d.queues[account].waiters.Len(), 1)
		}
		f, _ := d.wait(-1)
		require.True(t, d.asking[f] || d.queues[-1].waiters.Len() == 1)
	}
}

// The last bound is that of all accounts together.
func TestAllPlacesTaken(t *testing.T) {
	d := newQueueTest(t, Config{Concurrency: 1, MaxWaiting: 3})
	for account := range int64(4) {
		d.wait(account)
	}
	_, err := d.enqueue(9, new(flight))
	requireError(t, err, Limited, GlobalLimit)
	_, err = d.enqueue(3, new(flight))
	requireError(t, err, Limited, AccountLimit)
	require.NotContains(t, d.queues, int64(9))
}

// In any order of events the counts are right, no account waits that may have a
// slot, and in the end nothing is left.
func FuzzTurns(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 64, 65, 128, 129, 130, 192, 193})
	const most = 512 // steps
	seed := make([]byte, most)
	for n := range seed {
		seed[n] = byte(rand.N(256))
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, steps []byte) {
		d := newQueueTest(t, Config{Concurrency: 12, MaxWaiting: 24, AccountWaiting: 9})
		var flights []*flight
		for _, step := range steps[:min(most, len(steps))] {
			flights = d.step(step, flights)
			d.requireConsistent()
		}
		for _, f := range flights {
			d.finish(f)
		}
		require.Empty(t, d.queues)
		require.Zero(t, d.ring.Len())
		require.Zero(t, d.slots.used()+d.waiting.used())
	})
}

// step has one of 8 accounts wait for a new or an earlier flight, or ends one.
func (d *queueTest) step(step byte, flights []*flight) []*flight {
	account, what, which := int64(step&7), step>>6, int(step>>3&7)
	if what == 0 || len(flights) == 0 {
		flights = append(flights, new(flight))
		which, what = 0, 1
	}
	f := flights[max(0, len(flights)-1-which)]
	switch {
	case what == 1 && f.owner == nil:
		_, _ = d.enqueue(account, f)
		d.startNext()
	case what == 2:
		d.finish(f)
	case what == 3 && len(f.waiters) > 0:
		d.remove(f.waiters[0])
	}
	return flights
}

// finish ends f, or its wait.
func (d *queueTest) finish(f *flight) {
	for len(f.waiters) > 0 {
		d.remove(f.waiters[0])
	}
	if d.asking[f] {
		d.end(f)
	}
}

func (d *queueTest) requireConsistent() {
	held, waiting := 0, 0
	for _, q := range d.queues {
		held, waiting = held+q.slots, waiting+q.waiters.Len()
		if q.slots+q.waiters.Len() == 0 || q.waiters.Len() > 0 != (q.element != nil) {
			d.t.Fatalf("account %d has %d slots and %d places", q.account, q.slots, q.waiters.Len())
		}
		if q.element != nil && d.slots.allows(q.slots) {
			d.t.Fatalf("account %d waits and may have a slot", q.account)
		}
	}
	if held != d.slots.used() || held != len(d.asking) || waiting != d.waiting.used() {
		d.t.Fatalf("%d slots are held of %d taken, %d places of %d", held, d.slots.used(), waiting, d.waiting.used())
	}
}

// occupy has the account ask about domains that no resolver answers, and returns
// once all of them are under way.
func occupy(t testing.TB, r *Resolver, ctx context.Context, domains ...string) {
	t.Helper()
	before := r.Stats().InFlight
	for _, domain := range domains {
		go func() { _, _ = r.Lookup(ctx, testAccount, domain) }()
	}
	eventually(t, func() bool { return r.Stats().InFlight == before+len(domains) })
}

const otherAccount = testAccount + 1

// crowded is a Resolver that gets no answers, where anyone has as many look-ups
// asking as it may until leave is called.
func openCrowded(t testing.TB, c Config) (r *Resolver, server *mxtest.Server, leave context.CancelFunc) {
	server = mxtest.New(t, zone)
	server.RespondAll(mxtest.Silent)
	c.Concurrency, c.Timeout, c.Hedge = 8, time.Minute, time.Hour
	r = open(t, c, server.Addr)
	ctx, leave := context.WithCancel(context.Background())
	t.Cleanup(leave)
	occupy(t, r, ctx, "silent-1.test", "silent-2.test")
	return r, server, leave
}

func TestAnAccountOverItsShareDelaysNoOther(t *testing.T) {
	r, server, leave := openCrowded(t, Config{})
	server.Respond("example.test", mxtest.Answer)
	server.Respond("two.example.test", mxtest.Answer)
	mine := make(chan error)
	go func() { _, err := r.Lookup(context.Background(), testAccount, "two.example.test"); mine <- err }()
	eventually(t, func() bool { return r.Stats().Waiting == 1 })

	mx, err := r.Lookup(context.Background(), otherAccount, "example.test")
	require.NoError(t, err)
	require.True(t, mx)
	require.Zero(t, server.Asked("two.example.test"), "that of the first account waits")
	leave()
	require.NoError(t, <-mine, "until a caller leaves, whose place is free then")
}

// Both accounts get the answer as soon as the turn of one comes.
func TestJoiningAFlightThatWaits(t *testing.T) {
	r, server, _ := openCrowded(t, Config{})
	server.Respond("example.test", mxtest.Answer)
	answers := make(chan error)
	lookup := func(account int64) { _, err := r.Lookup(context.Background(), account, "example.test"); answers <- err }
	go lookup(testAccount)
	eventually(t, func() bool { return r.Stats().Waiting == 1 })
	go lookup(otherAccount)
	require.NoError(t, <-answers)
	require.NoError(t, <-answers)
	require.Equal(t, 1, server.Asked("example.test"))
	require.EqualValues(t, 1, r.Stats().Shared)
}

// The account that started the flight may leave it, waiting or asking.
func TestTheAccountThatStartedMayLeave(t *testing.T) {
	r, server, _ := openCrowded(t, Config{})
	answer := make(chan struct{})
	server.Respond("example.test", func(w dns.ResponseWriter, reply *dns.Msg) { <-answer; mxtest.Answer(w, reply) })
	ctx, leave := context.WithCancel(context.Background())
	first, second := make(chan error), make(chan error)
	go func() { _, err := r.Lookup(ctx, testAccount, "example.test"); first <- err }()
	eventually(t, func() bool { return r.Stats().Waiting == 1 })
	go func() { _, err := r.Lookup(context.Background(), otherAccount, "example.test"); second <- err }()
	eventually(t, func() bool { return server.Asked("example.test") == 1 })
	leave()
	require.ErrorIs(t, <-first, context.Canceled)
	close(answer)
	require.NoError(t, <-second)
}

// A look-up that waits is dropped with its last caller.
func TestLeavingFreesThePlace(t *testing.T) {
	r, server, _ := openCrowded(t, Config{AccountWaiting: 2})
	ctx, leave := context.WithCancel(context.Background())
	occupy(t, r, ctx, "a.test", "b.test")
	_, err := r.Lookup(context.Background(), testAccount, "example.test")
	requireError(t, err, Limited, AccountLimit)
	require.EqualValues(t, 1, r.Stats().Refused)
	leave()
	eventually(t, func() bool { return r.Stats().Waiting == 0 })
	occupy(t, r, t.Context(), "c.test", "d.test")
	require.Equal(t, 4, r.Stats().InFlight)
	require.Zero(t, server.Asked("a.test"))
}

// A slot that never comes free is a time-out that says nothing about the
// domain, so nothing is kept of it: not a failure, nor that a stale answer need
// not be refreshed.
func TestNoSlotInTime(t *testing.T) {
	t.Parallel()
	server := mxtest.New(t, ttlZone)
	c := Config{Concurrency: 1, Timeout: 3 * time.Second, StaleWait: time.Minute}
	r, clock := openAt(t, c, server.Addr)
	_, err := r.Lookup(context.Background(), testAccount, "usual.test")
	require.NoError(t, err)
	clock.advance(301 * time.Second)
	release := occupySlot(r)
	stale := make(chan bool)
	go func() {
		mx, err := r.Lookup(context.Background(), testAccount, "usual.test")
		stale <- mx && err == nil
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
	for _, domain := range []string{"usual.test", "alias.test"} {
		mx, err := r.Lookup(context.Background(), testAccount, domain)
		require.NoError(t, err)
		require.True(t, mx)
	}
}

// holdSlot holds the only slot until release is called.
func occupySlot(r *Resolver) (release func()) {
	r.flights.mu.Lock()
	defer r.flights.mu.Unlock()
	f := new(flight)
	_, _ = r.flights.queue.enqueue(0, f)
	r.flights.queue.next()
	return func() { f.cancel = func() {}; r.finish(f) }
}

// A wait that ends in one account's queue goes on in another's, which began
// later and has its whole time.
func TestAWaitEndsForItsAccountOnly(t *testing.T) {
	server := mxtest.New(t, zone)
	r := open(t, Config{Concurrency: 1}, server.Addr)
	release := occupySlot(r)
	answers := map[int64]chan error{testAccount: make(chan error), otherAccount: make(chan error)}
	for account, answer := range answers {
		go func() { _, err := r.Lookup(context.Background(), account, "example.test"); answer <- err }()
	}
	eventually(t, func() bool { return r.Stats().Waiting == 2 })
	r.flights.mu.Lock()
	first := r.flights.byName["example.test"].waiterIn(r.flights.queue.queues[testAccount])
	r.flights.mu.Unlock()
	r.expire(first)
	requireError(t, <-answers[testAccount], Timeout, NoSlot)
	release()
	require.NoError(t, <-answers[otherAccount])
}

func TestCloseEndsWaits(t *testing.T) {
	server := mxtest.New(t, zone)
	r := open(t, Config{Concurrency: 1}, server.Addr)
	occupySlot(r)
	ended := make(chan error)
	go func() { _, err := r.Lookup(context.Background(), testAccount, "example.test"); ended <- err }()
	eventually(t, func() bool { return r.Stats().Waiting == 1 })
	r.Close()
	requireError(t, <-ended, Failure, Closed)
	udp, _ := server.Queries()
	require.Zero(t, udp)
}

// Five accounts flood the resolver with domains that it never answers. The
// others' look-ups are answered all the same, and in the end nothing is left.
func TestFloodsLeaveOthersAlone(t *testing.T) {
	server := mxtest.New(t, "*.bulk.test. 300 IN MX 10 mail.test.")
	server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
		if reply.Question[0].Name[0] != 's' {
			mxtest.Answer(w, reply)
		}
	})
	r := open(t, Config{Timeout: time.Minute, Hedge: time.Hour}, server.Addr)
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
			mx, err := r.Lookup(context.Background(), otherAccount+10, fmt.Sprintf("fine-%d.bulk.test", i))
			require.NoError(t, err)
			require.True(t, mx)
		})
	}
	eventually(t, func() bool { return r.Stats().Found == 50 })
	leave()
	callers.Wait()
	eventually(t, func() bool {
		r.flights.mu.Lock()
		defer r.flights.mu.Unlock()
		turns := &r.flights.queue
		return len(r.flights.byName)+len(turns.queues)+turns.ring.Len()+turns.slots.used()+turns.waiting.used() == 0
	})
}
