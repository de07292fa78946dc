package main

import (
	"time"
)

// killed repeatedly kills the program under load. After each kill the ledger has
// the points of all responses, and at most those of the requests under way besides.
// Batches with an Idempotency-Key are sent until they get a response. Each is
// charged once.
func killed(s *session) error {
	k, err := s.newKills()
	if err != nil {
		return err
	}
	for _, part := range []func() error{k.inBursts, k.underLoad} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// kills is a process that is killed repeatedly, and its loads.
type kills struct {
	*session
	process *process
	plain   *load
	once    *onceLoad
	back    []time.Duration // from a kill to the next response with 200
}

func (s *session) newKills(flags ...string) (*kills, error) {
	plain, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return nil, err
	}
	repeating, err := s.newAccount("once", unlimited, unlimited)
	if err != nil {
		return nil, err
	}
	p, err := s.start(flags...)
	if err != nil {
		return nil, err
	}
	at := always(p.address)
	l := &load{account: plain, clients: 8, at: at, next: mixed}
	return &kills{session: s, process: p, plain: l, once: newOnceLoad(repeating, at)}, nil
}

// start starts both loads.
func (k *kills) start() (stop func()) {
	stopPlain, stopOnce := k.plain.start(k.ctx), k.once.start(k.ctx)
	return func() { stopPlain(); stopOnce() }
}

// restart kills the process and starts another at the same address.
func (k *kills) restart(flags ...string) (err error) {
	k.process.Kill()
	k.process, err = k.startAt(k.process.address, flags...)
	return err
}

func (k *kills) underLoad() error {
	stop := k.start()
	defer stop()
	for range k.times(50) {
		pause(50*time.Millisecond, 200*time.Millisecond)
		begun := time.Now()
		if err := k.restart(); err != nil {
			return err
		}
		if err := k.awaitService(k.plain); err != nil {
			return err
		}
		k.back = append(k.back, time.Since(begun))
		if err := k.expectLedgerOf(k.plain, k.once); err != nil {
			return err
		}
	}
	stop()
	return k.conclude()
}

// conclude reports and judges the loads after they have stopped.
func (k *kills) conclude() error {
	used, err := k.used(k.plain.account)
	if err != nil {
		return err
	}
	least, most := k.plain.charged()
	slowest := percentile(k.back, 100)
	k.figure("%d kills; serves again after p50 %s, at most %s", len(k.back), round(percentile(k.back, 50)), round(slowest))
	k.figure("plain: %s", &k.plain.tally)
	k.figure("plain: %d points in responses <= %d in the ledger <= %d with requests under way at the kills", least, used, most)
	k.figure("with Idempotency-Key: %s", &k.once.tally)
	k.expectWithin(slowest, time.Second, "to serve again")
	k.expectContract(&k.plain.tally)
	k.expect(k.once.responses(409) == 0, "%d batches got 409, although the first attempt's process was killed", k.once.responses(409))
	return k.expectSettled(k.once)
}
