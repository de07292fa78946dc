package main

import (
	"fmt"
	"sync"
	"time"
)

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
