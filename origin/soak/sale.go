package main

import (
	"fmt"
	"time"
)

// heldPause is less than the second that clients are asked to wait, so that a
// trial is short and the replicas are asked at the worst moments.
const heldPause = 5 * time.Millisecond

// sellOut has all buyers buy batches, and singles once a batch was refused,
// until the month's points are used up.
func (s *scene) sellOut(at func(int) string) error {
	balance := int64(s.times(5000))
	a, err := s.newAccount("balance", unlimited, fmt.Sprint(balance))
	if err != nil {
		return err
	}
	b := newSale(a, at)
	b.runOut(s.ctx)
	least, most := b.charged()
	s.expect(least == balance && most == balance, "%d points were sold (%d in doubt) of %d", least, most-least, balance)
	s.expectContract(&b.tally)
	s.figure("balance of %d, %d clients: %s", balance, buyers, &b.tally)
	return s.expectBooks(a, balance, balance)
}

// A sale is buyers who share an account.
type sale struct {
	load
	poor [buyers]bool // by client: a batch was refused
}

func newSale(a account, at func(int) string) *sale {
	b := &sale{load: load{account: a, clients: buyers, at: at}}
	b.next, b.finished = b.buy, b.learn
	return b
}

func (b *sale) buy(client, n int) request {
	if b.poor[client] {
		return usual(n)
	}
	return batchOf(1+(client+n)%9, client*1_000_000+n)
}

func (b *sale) learn(client int, _ request, o outcome) (goOn bool) {
	b.poor[client] = b.poor[client] || o.status == 402
	if o.held() {
		time.Sleep(heldPause)
	}
	return o.status == 200 || o.status == 402 || o.held()
}
