package mx

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

func TestCallersShareOneQuery(t *testing.T) {
	server := mxtest.New(t, zone)
	server.RespondAll(mxtest.After(100*time.Millisecond, mxtest.Answer))
	r := open(t, Config{}, server.Addr)
	var callers sync.WaitGroup
	for range 200 {
		callers.Go(func() {
			found, err := r.Lookup(context.Background(), testAccount, "example.test")
			require.NoError(t, err)
			require.True(t, found.MX)
		})
	}
	callers.Wait()
	require.Equal(t, 1, server.Asked("example.test"))
	s := r.Stats()
	require.EqualValues(t, 1, s.Misses)
	require.EqualValues(t, 199, s.Shared+s.Hits)
	require.EqualValues(t, 1, s.Found)
	require.GreaterOrEqual(t, s.Spent, 100*time.Millisecond)
}

func TestFirstCallerLeaves(t *testing.T) {
	server := mxtest.New(t, zone)
	respond := make(chan struct{})
	server.RespondAll(func(w dns.ResponseWriter, reply *dns.Msg) {
		<-respond
		mxtest.Answer(w, reply)
	})
	r := open(t, Config{}, server.Addr)
	ctx, leave := context.WithCancel(context.Background())
	first, second := make(chan error), make(chan error)
	go func() { _, err := r.Lookup(ctx, testAccount, "example.test"); first <- err }()
	eventually(t, func() bool { return r.Stats().Misses == 1 })
	go func() { _, err := r.Lookup(context.Background(), testAccount, "example.test"); second <- err }()
	eventually(t, func() bool { return r.Stats().Shared == 1 })

	leave()
	require.ErrorIs(t, <-first, context.Canceled)
	close(respond)
	require.NoError(t, <-second)
	require.Equal(t, 1, server.Asked("example.test"))
}

// The last caller to leave cancels the flight: its slot is free, and no failure
// is cached.
func TestLastCallerCancelsFlight(t *testing.T) {
	server := mxtest.New(t, zone)
	server.RespondAll(mxtest.Silent)
	r := open(t, Config{Concurrency: 1}, server.Addr)
	ctx, leave := context.WithCancel(context.Background())
	var callers sync.WaitGroup
	for range 10 {
		callers.Go(func() {
			_, err := r.Lookup(ctx, testAccount, "example.test")
			require.ErrorIs(t, err, context.Canceled)
		})
	}
	eventually(t, func() bool { return server.Asked("example.test") > 0 && r.Stats().Shared == 9 })
	leave()
	callers.Wait()
	require.Zero(t, r.Stats().InFlight)

	server.RespondAll(mxtest.Answer)
	for _, domain := range []string{"two.example.test", "example.test"} {
		found, err := r.Lookup(context.Background(), testAccount, domain)
		require.NoError(t, err)
		require.True(t, found.MX)
	}
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

// When its last caller leaves, a lookup closes its socket. Close ends all goroutines.
func TestCancellationFreesEverything(t *testing.T) {
	server := mxtest.New(t, zone)
	server.RespondAll(mxtest.Silent)
	r := open(t, Config{Timeout: time.Minute, interval: 5 * time.Millisecond}, server.Addr)
	goroutines, sockets := runtime.NumGoroutine(), openFiles(t)
	ctx, leave := context.WithCancel(context.Background())
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
	r := open(t, Config{Concurrency: limit, Timeout: 2 * time.Minute}, server.Addr)
	var callers sync.WaitGroup
	for i := range 60 {
		callers.Go(func() {
			found, err := r.Lookup(context.Background(), int64(i), fmt.Sprintf("%d.test", i))
			require.NoError(t, err)
			require.True(t, found.MX)
		})
	}
	callers.Wait()
	require.EqualValues(t, limit, most.Load())
}

func TestFailuresAreCached(t *testing.T) {
	server := mxtest.New(t, zone)
	server.RespondAll(mxtest.ServFail)
	r := open(t, Config{}, server.Addr)
	for range 5 {
		_, err := r.Lookup(context.Background(), testAccount, "example.test")
		requireError(t, err, Failure, Rcode)
	}
	require.Equal(t, 2, server.Asked("example.test"), "of one lookup")
}

// For the race detector: callers leave at different times while the resolver
// fails in different ways. None gets a wrong result.
func TestConcurrentCallersAndFailures(t *testing.T) {
	server := mxtest.New(t, "*.test. 1 IN MX 10 mail.test.")
	for i := range 20 {
		responder := []mxtest.Responder{mxtest.Answer, mxtest.Silent, mxtest.ServFail, mxtest.WrongID, mxtest.Truncated}[i%5]
		server.Respond(fmt.Sprintf("%d.test", i), responder)
	}
	c := shortTimeout
	c.cacheEntries, c.Concurrency, c.MinTTL, c.FailureTTL = 10, 8, time.Millisecond, time.Millisecond
	r := open(t, c, server.Addr)
	var callers sync.WaitGroup
	for worker := range 16 {
		callers.Go(func() {
			for i := range 40 {
				ctx, leave := context.WithTimeout(context.Background(), time.Duration(worker*i%30)*time.Millisecond)
				found, err := r.Lookup(ctx, testAccount, fmt.Sprintf("%d.test", (worker+i)%20))
				require.True(t, found.MX || err != nil, "every name has an MX record")
				leave()
			}
		})
	}
	callers.Wait()
	eventually(t, func() bool { return r.Stats().InFlight == 0 })
}

func eventually(t testing.TB, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, 2*time.Minute, time.Millisecond)
}
