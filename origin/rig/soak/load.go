package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// A load is a group of clients. Each sends one request after another.
type load struct {
	tally
	account   account
	at        func(client int) (address string) // called before each connection
	clients   int
	reconnect bool // use a new connection for each request; else every second client keeps its own
	next      func(client, n int) request
	patience  func() time.Duration                               // called for each request; nil: clients never hang up
	finished  func(client int, r request, o outcome) (goOn bool) // nil: clients never stop

	// gate is locked for reading during each request; locking it for writing waits
	// until no request is in flight.
	gate sync.RWMutex
}

// refusedPause is the wait after a refused connection, so that clients do not spin
// while no process listens.
const refusedPause = 2 * time.Millisecond

// start runs the clients until stop is called or ctx ends. Each finishes its
// request first.
func (l *load) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { l.runOut(ctx); close(ended) }()
	return func() { cancel(); <-ended }
}

// run runs one client. Every second one keeps its connection.
func (l *load) run(ctx context.Context, id int) {
	c := &client{key: l.account.key, keepAlive: id%2 == 0 && !l.reconnect}
	defer c.close()
	for n := 0; ctx.Err() == nil; n++ {
		if r := l.next(id, n); !l.ask(c, id, r) {
			return
		}
	}
}

// ask sends one request and counts it.
func (l *load) ask(c *client, id int, r request) (goOn bool) {
	l.gate.RLock()
	if c.conn == nil {
		c.address = l.at(id)
	}
	if l.patience != nil {
		c.patience = l.patience()
	}
	o := c.send(r)
	l.count(r, o)
	l.gate.RUnlock()
	if o.kind == refused {
		time.Sleep(refusedPause)
	}
	return l.finished == nil || l.finished(id, r, o)
}

// runOut runs the clients until each has stopped by itself.
func (l *load) runOut(ctx context.Context) {
	var clients sync.WaitGroup
	for id := range l.clients {
		clients.Go(func() { l.run(ctx, id) })
	}
	clients.Wait()
}

// atRest calls do while no request is in flight.
func (l *load) atRest(do func() error) error {
	l.gate.Lock()
	defer l.gate.Unlock()
	return do()
}

// always returns one address for all clients.
func always(address string) func(int) string { return func(int) string { return address } }

// buyers is the number of clients of most loads.
const buyers = 16

// awaitService sends a single until it gets 200.
func (s *session) awaitService(l *load) error {
	c := &client{address: l.at(0), key: l.account.key}
	r := single("probe@mail.example")
	for deadline := time.Now().Add(exchangeTimeout); ; time.Sleep(refusedPause) {
		o := c.send(r)
		l.count(r, o)
		if o.status == 200 {
			return nil
		}
		if time.Now().After(deadline) || s.ctx.Err() != nil {
			return fmt.Errorf("no response with 200 after %s; the last is %d: %s", exchangeTimeout, o.status, o.body)
		}
	}
}

// pause sleeps for a random time between least and most.
func pause(least, most time.Duration) { time.Sleep(least + rand.N(most-least)) }

// A tally counts requests by outcome.
type tally struct {
	mu       sync.Mutex
	points   int64 // that responses reported
	doubtful int64 // of requests that were cut or hung up: they may have been charged
	requests int
	hungUp   int
	refused  int
	cuts     []error
	status   map[int]int
	odd      []error         // responses that differ from the contract
	took     []time.Duration // of responses with 200
	slowest  time.Duration   // of all responses
}

func (t *tally) count(r request, o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests++
	switch o.kind {
	case refused:
		t.refused++
	case cut:
		t.cuts = append(t.cuts, o.err)
		t.doubtful += r.cost()
	case hungUp:
		t.hungUp++
		t.doubtful += r.cost()
	case responded:
		t.countResponse(r, o)
	}
}

func (t *tally) countResponse(r request, o outcome) {
	points, err := o.points(r)
	if err != nil {
		t.odd = append(t.odd, err)
	}
	t.points += points
	if t.status == nil {
		t.status = map[int]int{}
	}
	t.status[o.status]++
	t.slowest = max(t.slowest, o.took)
	if o.status == 200 {
		t.took = append(t.took, o.took)
	}
}

// responses returns the number of responses with this status.
func (t *tally) responses(status int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status[status]
}

// times returns how long each response with 200 took so far.
func (t *tally) times() []time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.took
}

// charged returns the points that responses reported, without and with those in
// doubt.
func (t *tally) charged() (least, most int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.points, t.points + t.doubtful
}

// firstCut returns the error of the first cut request, or nil.
func (t *tally) firstCut() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.cuts) == 0 {
		return nil
	}
	return t.cuts[0]
}

// expectContract records responses that differ from the contract as failures.
func (s *session) expectContract(t *tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, err := range t.odd[:min(3, len(t.odd))] {
		s.expect(false, "%v", err)
	}
	s.expect(t.status[500] == 0, "%d responses were 500", t.status[500])
}

// String returns the counts and times as one line.
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var statuses []string
	for status, count := range t.status {
		statuses = append(statuses, fmt.Sprintf("%d: %d", status, count))
	}
	slices.Sort(statuses)
	return fmt.Sprintf("%d requests (%s; refused: %d, cut: %d, hung up: %d), %d points; p50 %s, p99 %s, slowest %s",
		t.requests, strings.Join(statuses, ", "), t.refused, len(t.cuts), t.hungUp, t.points,
		round(percentile(t.took, 50)), round(percentile(t.took, 99)), round(t.slowest))
}

// A onceLoad sends batches with an Idempotency-Key, each one until it is charged or
// the month's points are used up. Once it has settled, its responses and the ledger
// agree exactly, whatever was killed or cut.
type onceLoad struct {
	load
	own     sync.Mutex // guards current and serial
	current []*request // by client, not yet settled
	serial  int        // number of the last batch
	make    func(n int) request
}

const onceClients = 4

func newOnceLoad(a account, at func(client int) string) *onceLoad {
	o := &onceLoad{current: make([]*request, onceClients)}
	o.make = func(n int) request { return batchOf(3+n%5, n) }
	o.load = load{account: a, clients: onceClients, at: at, next: o.nextBatch, finished: o.record}
	return o
}

// nextBatch returns the client's unsettled batch, or a new one.
func (o *onceLoad) nextBatch(id, _ int) request {
	o.own.Lock()
	defer o.own.Unlock()
	if o.current[id] == nil {
		o.serial++
		r := o.make(o.serial)
		r.once = fmt.Sprint("batch-", o.serial)
		o.current[id] = &r
	}
	return *o.current[id]
}

// record marks a batch as settled by 200 or 402. A client stops after 402.
func (o *onceLoad) record(id int, _ request, out outcome) (goOn bool) {
	o.own.Lock()
	defer o.own.Unlock()
	if out.status == 200 || out.status == 402 {
		o.current[id] = nil
	}
	return out.status != 402
}

// charged returns the points of responses, without and with those of unsettled
// batches.
func (o *onceLoad) charged() (least, most int64) {
	least, _ = o.tally.charged()
	most = least
	for _, r := range o.open() {
		most += r.cost()
	}
	return least, most
}

// open returns the unsettled batches.
func (o *onceLoad) open() (list []request) {
	o.own.Lock()
	defer o.own.Unlock()
	for _, r := range o.current {
		if r != nil {
			list = append(list, *r)
		}
	}
	return list
}

// settle sends each open batch of a stopped load until it is settled. No lease has
// to expire first: a batch whose process was killed or whose client hung up is
// served at once.
func (o *onceLoad) settle() error {
	c := &client{address: o.at(0), key: o.account.key, keepAlive: true}
	defer c.close()
	deadline := time.Now().Add(settleTimeout)
	for _, r := range o.open() {
		if err := o.sendUntilCharged(c, r, deadline); err != nil {
			return err
		}
	}
	clear(o.current)
	return nil
}

// settleTimeout is longer than the second of a commit, and shorter than a lease on
// the Idempotency-Key would be.
const settleTimeout = 5 * time.Second

func (o *onceLoad) sendUntilCharged(c *client, r request, deadline time.Time) error {
	for {
		out := c.send(r)
		o.count(r, out)
		if out.status == 200 || out.status == 402 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("a batch with an Idempotency-Key is not settled after %s; the last response is %d: %s", settleTimeout, out.status, out.body)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// expectSettled settles the load and expects the ledger to have the points of its
// responses.
func (s *session) expectSettled(o *onceLoad) error {
	open := len(o.open())
	if err := o.settle(); err != nil {
		return err
	}
	points, _ := o.charged()
	s.figure("with Idempotency-Key: %d batches sent again at the end; then %d points in responses = ledger", open, points)
	s.expectContract(&o.tally)
	return s.expectLedger(o.account, points, points)
}
