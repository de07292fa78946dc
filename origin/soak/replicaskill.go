package main

import (
	"errors"
	"fmt"
	"time"
)

// replicasKilled kills random ones of three replicas while two balances are sold.
// One is sold to plain singles and to batches with an Idempotency-Key, the other to
// such batches alone. With those the ledger and the responses agree exactly.
func replicasKilled(s *session) error {
	r, err := s.startReplicas(3)
	if err != nil {
		return err
	}
	k, err := s.newKilledSale(anywhere(r.addresses()))
	if err != nil {
		return err
	}
	stop := k.start()
	defer stop()
	kills := s.times(40)
	for range kills {
		pause(50*time.Millisecond, 150*time.Millisecond)
		if err := s.restartOne(r); err != nil {
			return err
		}
	}
	stop()
	s.figure("%d kills of three replicas; meanwhile %d points sold of %d, and %d of %d", kills,
		k.singles.points+k.batches.points, k.balance, k.exact.points, k.exactBalance)
	return k.finish()
}

// killedSale is the two balances and their buyers. The shared balance is used up
// during the kills, the other one is not.
type killedSale struct {
	*session
	balance, exactBalance int64
	singles               *load     // of the shared balance
	batches               *onceLoad // of the shared balance
	exact                 *onceLoad // of the other balance
}

func (s *session) newKilledSale(at func(int) string) (*killedSale, error) {
	balance, exactBalance := int64(s.times(4000)), int64(s.times(10_000))
	shared, err := s.newAccount("shared", unlimited, fmt.Sprint(balance))
	if err != nil {
		return nil, err
	}
	exact, err := s.newAccount("exact", unlimited, fmt.Sprint(exactBalance))
	if err != nil {
		return nil, err
	}
	singles := &load{account: shared, clients: 8, at: at}
	singles.next = func(_, n int) request { return usual(n) }
	singles.finished = func(_ int, _ request, o outcome) bool { return !o.usedUp() }
	return &killedSale{s, balance, exactBalance, singles, newOnceLoad(shared, at), newOnceLoad(exact, at)}, nil
}

func (k *killedSale) start() (stop func()) {
	stops := []func(){k.singles.start(k.ctx), k.batches.start(k.ctx), k.exact.start(k.ctx)}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// finish settles the batches, sells the rest of both balances and checks the
// ledger.
func (k *killedSale) finish() error {
	for _, o := range []*onceLoad{k.batches, k.exact} {
		if err := o.settle(); err != nil {
			return err
		}
	}
	if err := k.sellRest(); err != nil {
		return err
	}
	k.figure("singles of the shared balance: %s", &k.singles.tally)
	k.figure("its batches with Idempotency-Key: %s", &k.batches.tally)
	k.figure("batches with Idempotency-Key alone: %s", &k.exact.tally)
	for _, t := range []*tally{&k.singles.tally, &k.batches.tally, &k.exact.tally} {
		k.expectContract(t)
	}
	return k.expectSold()
}

// sellRest buys points one at a time until they are used up. The ledger then has
// the whole balance, so any error shows as a difference from the responses.
func (k *killedSale) sellRest() error {
	for _, l := range []*load{k.singles, &k.exact.load} {
		c := &client{address: l.at(0), key: l.account.key, keepAlive: true}
		for o := (outcome{status: 200}); !o.usedUp(); {
			if o.status != 200 || k.ctx.Err() != nil {
				return fmt.Errorf("the rest of the balance: the response is %d: %s", o.status, o.body)
			}
			r := single("jane@mail.example")
			o = c.send(r)
			l.count(r, o)
		}
		c.close()
	}
	return nil
}

// expectSold compares the responses with the balances. Only singles that were cut
// may have been charged without a response.
func (k *killedSale) expectSold() error {
	answered := k.singles.points + k.batches.points
	k.figure("shared: %d points in responses <= %d in the ledger <= %d with those cut", answered, k.balance, answered+k.singles.doubtful)
	k.expect(answered <= k.balance, "responses reported %d points of a balance of %d", answered, k.balance)
	k.expect(answered+k.singles.doubtful >= k.balance, "%d points were charged, but only %d are in responses or were cut", k.balance, answered+k.singles.doubtful)
	k.expect(k.exact.points == k.exactBalance, "batches with Idempotency-Key alone: %d points in responses, %d in the ledger", k.exact.points, k.exactBalance)
	return errors.Join(
		k.expectLedger(k.singles.account, k.balance, k.balance),
		k.expectLedger(k.exact.account, k.exactBalance, k.exactBalance))
}
