package mx

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/mxtest"
)

// queryLog has the port and the id of each query, in the order of their arrival.
type queryLog struct {
	mu    sync.Mutex
	ports []string
	ids   []uint16
}

// before returns a Responder that records a query and then calls next.
func (l *queryLog) before(next mxtest.Responder) mxtest.Responder {
	return func(w dns.ResponseWriter, reply *dns.Msg) {
		l.mu.Lock()
		l.ports, l.ids = append(l.ports, w.RemoteAddr().String()), append(l.ids, reply.Id)
		l.mu.Unlock()
		next(w, reply)
	}
}

// uses returns how often each port was used.
func (l *queryLog) uses() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	uses := map[string]int{}
	for _, p := range l.ports {
		uses[p]++
	}
	return uses
}

// lookUpNew has callers look up domains that nobody has looked up before.
func lookUpNew(t *testing.T, r *Resolver, callers, each int) {
	t.Helper()
	var all sync.WaitGroup
	errs := make([]error, callers)
	for c := range callers {
		all.Go(func() {
			for n := range each {
				if _, err := r.Lookup(context.Background(), testAccount, fmt.Sprintf("n%d-%d.example.test", c, n)); err != nil {
					errs[c] = err
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

// A forger has to guess port and id: ports change, and ids are random.
func TestPortsAndIDsAreUnpredictable(t *testing.T) {
	const callers, each = 16, 256
	server, log := mxtest.New(t, zone), &queryLog{}
	server.RespondAll(log.before(mxtest.Answer))
	r := open(t, Config{}, server.Addr)
	lookUpNew(t, r, callers, each)

	uses := log.uses()
	require.Len(t, log.ids, callers*each)
	const few = 4 // the kernel may choose a port again
	require.GreaterOrEqual(t, len(uses), callers*each/socketUses/few)
	for port, n := range uses {
		require.LessOrEqual(t, n, few*socketUses, port)
	}
	ids, repeated := map[uint16]bool{}, 0
	for n, id := range log.ids {
		ids[id] = true
		if n > 0 && log.ports[n] == log.ports[n-1] {
			repeated++
		}
	}
	// So many of 65,536 ids are expected to occur; 200 fewer would be 15 standard deviations.
	expected := 65536 * (1 - math.Pow(1-1.0/65536, callers*each))
	require.Greater(t, float64(len(ids)), expected-200)
	t.Logf("%d queries: %d ports, %d ids; the port of the query before in %d", len(log.ids), len(uses), len(ids), repeated)
}

func TestQueriesInFlightHaveTheirOwnPorts(t *testing.T) {
	const callers = 64
	server, log := mxtest.New(t, zone), &queryLog{}
	r := open(t, Config{}, server.Addr)
	lookUpNew(t, r, 8, 4) // some sockets are idle now
	together, _ := mxtest.Together(t, callers)
	server.RespondAll(log.before(together))
	ctx := context.Background()
	var all sync.WaitGroup
	for n := range callers {
		all.Go(func() { _, _ = r.Lookup(ctx, testAccount, fmt.Sprintf("together%d.example.test", n)) })
	}
	all.Wait()
	require.Len(t, log.uses(), callers)
}

// A port at which something else has arrived is not used again, so a forger who has found
// one has lost it with the first guess.
func TestSocketIsClosedAfterWhatIsNoReply(t *testing.T) {
	for why, stray := range map[string]struct {
		responder mxtest.Responder
		later     bool // than the reply
	}{
		"a forged reply before": {mxtest.WrongID, false},
		"noise before":          {noiseFirst, false},
		"one more reply":        {twice, true},
		"an empty datagram":     {emptyLast, true},
	} {
		t.Run(why, func(t *testing.T) {
			server, log := mxtest.New(t, zone), &queryLog{}
			server.RespondAll(log.before(stray.responder))
			r := open(t, Config{}, server.Addr)
			for n := range 20 {
				_, err := r.Lookup(context.Background(), testAccount, fmt.Sprintf("n%d.example.test", n))
				require.NoError(t, err)
				if stray.later {
					awaitStray(t, r)
				}
			}
			require.GreaterOrEqual(t, len(log.uses()), 17, "the kernel may choose a port again")
		})
	}
}

func twice(w dns.ResponseWriter, reply *dns.Msg) {
	mxtest.Answer(w, reply)
	mxtest.Answer(w, reply)
}

func emptyLast(w dns.ResponseWriter, reply *dns.Msg) {
	mxtest.Answer(w, reply)
	_, _ = w.Write(nil)
}

// awaitStray waits until no idle socket is quiet.
func awaitStray(t *testing.T, r *Resolver) {
	t.Helper()
	idle := &r.servers[0].idle
	eventually(t, func() bool {
		idle.mu.Lock()
		defer idle.mu.Unlock()
		return !slices.ContainsFunc(idle.list, func(d *datagrams) bool { return !d.isSpent() && d.isQuiet() })
	})
}

// An error that waits in a socket, such as of a server that has gone, is not the next query's.
func TestServerRestarts(t *testing.T) {
	server := mxtest.New(t, zone)
	r := open(t, quickHedge, server.Addr)
	lookUpNew(t, r, 4, 1)
	address := server.Addr
	server.Close()
	_, err := r.Lookup(context.Background(), testAccount, "while-it-is-away.example.test")
	requireError(t, err, Failure, Unreachable)
	again, err := mxtest.Listen(address, zone)
	require.NoError(t, err)
	t.Cleanup(again.Close)
	_, err = r.Lookup(context.Background(), testAccount, "again.example.test")
	require.NoError(t, err)
}

func TestIdleSocketsAreClosed(t *testing.T) {
	server := mxtest.New(t, zone)
	r := open(t, Config{Concurrency: 8, AccountConcurrency: 8}, server.Addr)
	before := openFiles(t)
	together, _ := mxtest.Together(t, 8)
	server.RespondAll(together)
	lookUpNew(t, r, 8, 1)
	idle := &r.servers[0].idle
	eventually(t, func() bool { idle.mu.Lock(); defer idle.mu.Unlock(); return len(idle.list) == 0 })
	require.LessOrEqual(t, openFiles(t), before)

	lookUpNew(t, r, 8, 16)
	require.LessOrEqual(t, len(idle.list), 8)
	r.Close()
	require.Empty(t, idle.list)
	require.LessOrEqual(t, openFiles(t), before)
	late, err := r.servers[0].open()
	require.NoError(t, err)
	r.servers[0].release(late, true)
	require.Empty(t, idle.list, "nothing is kept after Close")
}
