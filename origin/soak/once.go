package main

import (
	"fmt"
	"sync"
	"time"
)

// A onceLoad sends each batch, with an Idempotency-Key, until it is answered.
// A batch whose first attempt died with the server answers 409 until that
// attempt's lease lapses; it is put off to the end.
type onceLoad struct {
	load
	own     sync.Mutex
	current []*request // by client, until it is answered
	put     []request  // off
}

func newOnceLoad(a account, address string) *onceLoad {
	const clients = 4
	o := &onceLoad{current: make([]*request, clients)}
	o.load = load{account: a, clients: clients, at: always(address), next: o.again, finished: o.learn}
	return o
}

// again is the client's batch that has no answer yet, or a new one.
func (o *onceLoad) again(id, n int) request {
	o.own.Lock()
	defer o.own.Unlock()
	if o.current[id] == nil {
		r := batchOf(3+n%5, id*1_000_000+n)
		r.once = fmt.Sprintf("batch-%d-%d", id, n)
		o.current[id] = &r
	}
	return *o.current[id]
}

func (o *onceLoad) learn(id int, r request, out outcome) bool {
	o.own.Lock()
	defer o.own.Unlock()
	switch out.status {
	case 409:
		o.put = append(o.put, r)
		o.current[id] = nil
	case 200:
		o.current[id] = nil
	}
	return true
}

// charged is the points of the batches answered, each once, and with those
// that wait for an answer.
func (o *onceLoad) charged() (least, most int64) {
	o.own.Lock()
	defer o.own.Unlock()
	least, _ = o.tally.charged()
	most = least
	for _, r := range o.put {
		most += r.cost()
	}
	for _, r := range o.current {
		if r != nil {
			most += r.cost()
		}
	}
	return least, most
}

// settle sends what has no answer yet until it has one.
func (o *onceLoad) settle(within time.Duration) error {
	left := o.put
	for _, r := range o.current {
		if r != nil {
			left = append(left, *r)
		}
	}
	c := &client{address: o.at(0), key: o.account.key, keepAlive: true}
	defer c.close()
	for deadline := time.Now().Add(within); len(left) > 0; {
		out := c.send(left[0])
		o.count(left[0], out)
		if out.status == 200 {
			left = left[1:]
			continue
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d batches have no answer after %s; the last answer is %d: %s", len(left), within, out.status, out.body)
		}
		time.Sleep(250 * time.Millisecond)
	}
	o.put, o.current = nil, nil
	return nil
}
