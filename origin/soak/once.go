package main

import (
	"fmt"
	"sync"
	"time"
)

// A onceLoad sends each batch with an Idempotency-Key, and sends it again until
// it is charged or the month's points are used up. So its answers and the
// ledger agree exactly once it has settled, whatever was killed or cut.
type onceLoad struct {
	load
	own     sync.Mutex
	current []*request // by client, without an outcome so far
	serial  int        // of the last batch
	fresh   func(n int) request
}

const onceClients = 4

func newOnceLoad(a account, at func(client int) string) *onceLoad {
	o := &onceLoad{current: make([]*request, onceClients)}
	o.fresh = func(n int) request { return batchOf(3+n%5, n) }
	o.load = load{account: a, clients: onceClients, at: at, next: o.again, finished: o.learn}
	return o
}

// again is the client's batch without an outcome, or a new one.
func (o *onceLoad) again(id, _ int) request {
	o.own.Lock()
	defer o.own.Unlock()
	if o.current[id] == nil {
		o.serial++
		r := o.fresh(o.serial)
		r.once = fmt.Sprint("batch-", o.serial)
		o.current[id] = &r
	}
	return *o.current[id]
}

func (o *onceLoad) learn(id int, _ request, out outcome) (goOn bool) {
	o.own.Lock()
	defer o.own.Unlock()
	if out.status == 200 || out.status == 402 {
		o.current[id] = nil
	}
	return out.status != 402
}

// charged adds to the points of answers those of batches without an outcome.
func (o *onceLoad) charged() (least, most int64) {
	least, _ = o.tally.charged()
	most = least
	for _, r := range o.open() {
		most += r.cost()
	}
	return least, most
}

// open is the batches without an outcome.
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

// settle ends a load that was stopped: each open batch is sent until it has an
// outcome. Nothing has to lapse first: a batch whose process was killed, or
// whose client hung up, is answered at once.
func (o *onceLoad) settle() error {
	c := &client{address: o.at(0), key: o.account.key, keepAlive: true}
	defer c.close()
	deadline := time.Now().Add(settleLimit)
	for _, r := range o.open() {
		if err := o.sendUntilCharged(c, r, deadline); err != nil {
			return err
		}
	}
	clear(o.current)
	return nil
}

// settleLimit is more than a commit's second and less than any lease.
const settleLimit = 5 * time.Second

func (o *onceLoad) sendUntilCharged(c *client, r request, deadline time.Time) error {
	for {
		out := c.send(r)
		o.count(r, out)
		if out.status == 200 || out.status == 402 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("a batch with an Idempotency-Key has no outcome after %s; the last answer is %d: %s", settleLimit, out.status, out.body)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// expectSettled settles the load and compares its answers with the ledger.
func (s *scene) expectSettled(o *onceLoad) error {
	open := len(o.open())
	if err := o.settle(); err != nil {
		return err
	}
	points, _ := o.charged()
	s.figure("with Idempotency-Key: %d batches sent again at the end; then %d points answered = ledger", open, points)
	s.expectContract(&o.tally)
	return s.expectBooks(o.account, points, points)
}
