package main

import (
	"fmt"
	"time"
)

// claimedPause is shorter than the second of Retry-After, so that the trial is
// short and requests arrive while others are being charged.
const claimedPause = 5 * time.Millisecond

// sellOut has all buyers buy batches, and singles after a batch was refused, until
// the month's points are used up.
func (s *session) sellOut(at func(int) string) error {
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
	return s.expectLedger(a, balance, balance)
}

// A sale is a load of buyers on one account.
type sale struct {
	load
	poor [buyers]bool // by client: whether a batch was refused
}

func newSale(a account, at func(int) string) *sale {
	b := &sale{load: load{account: a, clients: buyers, at: at}}
	b.next, b.finished = b.buy, b.record
	return b
}

func (b *sale) buy(client, n int) request {
	if b.poor[client] {
		return usual(n)
	}
	return batchOf(1+(client+n)%9, client*1_000_000+n)
}

func (b *sale) record(client int, _ request, o outcome) (goOn bool) {
	b.poor[client] = b.poor[client] || o.status == 402
	if o.claimed() {
		time.Sleep(claimedPause)
	}
	return o.status == 200 || o.status == 402 || o.claimed()
}
