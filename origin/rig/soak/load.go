package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A load is a group of clients of an account, each of which sends one request after another. It
// counts the responses, and what they and the requests without one may have cost.
type load struct {
	account   *account
	clients   int
	at        func(client int) (address string) // called before each connection
	next      func(client, n int) request
	each      int                                     // requests of each client; 0: until the load is stopped
	pace      time.Duration                           // between a client's requests
	reconnect bool                                    // for each request; else every second client keeps its connection
	once      bool                                    // send batches with an Idempotency-Key, each until it is charged
	after     func(client int, o outcome) (goOn bool) // nil: clients never stop

	// gate is locked for reading during each request; locking it for writing waits
	// until no request is in flight.
	gate sync.RWMutex

	mu        sync.Mutex // guards all below
	requests  int
	points    int64 // that responses reported
	doubtful  int64 // of requests that were cut off without an Idempotency-Key: they may have been charged
	refused   int
	cuts      []error
	status    map[int]int
	good      []span // of responses with 200
	slowest   time.Duration
	odd       []error         // responses that differ from the contract
	stored    map[string]bool // the Idempotency-Keys of batches with a 200
	replays   int
	unsettled map[int]request // with Idempotency-Keys, by client: sent and without a 200
	serial    int             // number of the last batch with an Idempotency-Key
}

// A span is a period in which a request arrived.
type span struct{ begin, end time.Time }

// load returns a load of the account that is not started yet.
func (a *account) load(clients int, at func(client int) string, next func(client, n int) request) *load {
	l := &load{account: a, clients: clients, at: at, next: next, status: map[int]int{}, stored: map[string]bool{},
		unsettled: map[int]request{}}
	a.loads = append(a.loads, l)
	return l
}

// batches returns a load of batches with Idempotency-Keys.
func (a *account) batches(at func(client int) string) *load {
	l := a.load(4, at, func(client, n int) request { return batchOf(3+n%5, client*1_000_000+n) })
	l.once = true
	return l
}

// charged returns the points that the responses to all loads reported, without and with those in doubt.
func (a *account) charged() (least, most int64) {
	for _, l := range a.loads {
		l.mu.Lock()
		least, most = least+l.points, most+l.points+l.doubtful
		for _, r := range l.unsettled {
			most += r.cost()
		}
		l.mu.Unlock()
	}
	return least, most
}

// always returns one address for all clients.
func always(address string) func(int) string { return func(int) string { return address } }

// start runs the clients of loads until stop is called or ctx ends. Each finishes its request first.
func start(ctx context.Context, loads ...*load) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for _, l := range loads {
		all.Go(func() { l.run(ctx) })
	}
	return func() { cancel(); all.Wait() }
}

// run runs the clients until each has stopped by itself, or ctx ends.
func (l *load) run(ctx context.Context) {
	var clients sync.WaitGroup
	for id := range l.clients {
		clients.Go(func() {
			c := &client{key: l.account.key, keepAlive: id%2 == 0 && !l.reconnect}
			defer c.close()
			for n := 0; ctx.Err() == nil && (l.each == 0 || n < l.each); n++ {
				o := l.ask(c, id, n)
				if l.after != nil && !l.after(id, o) {
					return
				}
			}
		})
	}
	clients.Wait()
}

// refusedPause is the wait after a refused connection, so that clients do not spin
// while no process listens.
const refusedPause = 2 * time.Millisecond

// ask sends the client's n-th request, or again its batch that is not settled.
func (l *load) ask(c *client, id, n int) outcome {
	l.gate.RLock()
	if c.conn == nil {
		c.address = l.at(id)
	}
	l.mu.Lock()
	r, again := l.unsettled[id]
	if !again {
		r = l.next(id, n)
		if l.once {
			l.serial++
			r.once = fmt.Sprint("batch-", l.serial)
			l.unsettled[id] = r
		}
	}
	l.mu.Unlock()
	o := l.send(c, id, r)
	l.gate.RUnlock()
	pace := l.pace
	if o.err != nil && !o.sent {
		pace = max(pace, refusedPause)
	}
	time.Sleep(pace)
	return o
}

// send sends a request of a client and counts it.
func (l *load) send(c *client, id int, r request) outcome {
	o := c.send(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	if o.err != nil && !o.sent {
		l.refused++
		return o
	}
	if o.err != nil {
		l.cuts = append(l.cuts, o.err)
		if r.once == "" {
			l.doubtful += r.cost()
		}
		return o
	}
	l.status[o.status]++
	l.slowest = max(l.slowest, o.took)
	points, err := o.points(r)
	if err != nil {
		l.odd = append(l.odd, err)
	}
	if o.status != 200 {
		return o
	}
	l.good = append(l.good, span{o.begun, o.begun.Add(o.took)})
	delete(l.unsettled, id)
	if r.once != "" && l.stored[r.once] { // its points were counted before
		l.replays++
		points = 0
		if o.header.Get("Idempotency-Replayed") != "true" {
			l.odd = append(l.odd, errors.New("a replay lacks Idempotency-Replayed: true"))
		}
	}
	l.stored[r.once] = true
	l.points += points
	return o
}

// responses returns the number of responses with this status.
func (l *load) responses(status int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status[status]
}

// times returns how long each response with 200 took so far.
func (l *load) times() (list []time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.good {
		list = append(list, s.end.Sub(s.begin))
	}
	return list
}

// String returns the counts and times as one line.
func (l *load) String() string {
	took := l.times()
	l.mu.Lock()
	defer l.mu.Unlock()
	var statuses []string
	for status, count := range l.status {
		statuses = append(statuses, fmt.Sprintf("%d: %d", status, count))
	}
	slices.Sort(statuses)
	return fmt.Sprintf("%d requests (%s; refused: %d, cut: %d), %d points; p50 %s, p99 %s, slowest %s",
		l.requests, strings.Join(statuses, ", "), l.refused, len(l.cuts), l.points,
		round(percentile(took, 50)), round(percentile(took, 99)), round(l.slowest))
}

// awaitService sends a single until it gets 200, and returns how long that took.
func (s *session) awaitService(l *load) time.Duration {
	c := &client{address: l.at(0), key: l.account.key}
	begun := time.Now()
	for {
		o := l.send(c, -1, single("probe@mail.example"))
		if o.status == http.StatusOK {
			return time.Since(begun)
		}
		if time.Since(begun) > exchangeTimeout || s.ctx.Err() != nil {
			s.check(fmt.Errorf("no response with 200 after %s; the last is %d: %s", exchangeTimeout, o.status, o.body))
		}
		time.Sleep(refusedPause)
	}
}
