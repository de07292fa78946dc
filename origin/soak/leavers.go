package main

import (
	"math"
	"math/rand/v2"
	"time"
)

// leavers has clients hang up at random moments after they sent a request. One that
// hangs up before the transaction includes its request is not charged.
func leavers(s *session) error {
	s.dns.RespondAll(asNamed)
	p, err := s.start("--dns-timeout", "2s")
	if err != nil {
		return err
	}
	l, err := s.newLeavers(always(p.address))
	if err != nil {
		return err
	}
	stop := l.start()
	time.Sleep(s.span(15 * time.Second))
	stop()
	l.report()
	return l.expectLedger()
}

// leaving is three loads whose clients hang up.
type leaving struct {
	*session
	random  *load     // at any moment
	once    *onceLoad // at any moment, then sends the batch again
	waiting *load     // while the request waits for a silent resolver
}

func (s *session) newLeavers(at func(int) string) (*leaving, error) {
	var accounts []account
	for _, name := range []string{"random", "once", "waiting"} {
		a, err := s.newAccount(name, unlimited, unlimited)
		if err != nil {
			return nil, err
		}
		accounts = append(accounts, a)
	}
	l := &leaving{session: s}
	l.random = &load{account: accounts[0], clients: 8, at: at, next: mixed, patience: soon}
	l.once = newOnceLoad(accounts[1], at)
	l.once.patience = soon
	l.waiting = &load{account: accounts[2], clients: 8, at: at, next: waiting, patience: whileWaiting}
	return l, nil
}

// soon returns a time from 1 µs to 30 ms, about the time of a request. Short times
// are more frequent.
func soon() time.Duration {
	return time.Microsecond + time.Duration(float64(30*time.Millisecond)*math.Pow(rand.Float64(), 3))
}

// whileWaiting returns a time after which a request has begun its look-up and not
// yet timed out.
func whileWaiting() time.Duration { return 30*time.Millisecond + rand.N(100*time.Millisecond) }

func (l *leaving) start() (stop func()) {
	stops := []func(){l.random.start(l.ctx), l.once.start(l.ctx), l.waiting.start(l.ctx)}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

func (l *leaving) report() {
	l.figure("at any moment: %s", &l.random.tally)
	l.figure("with Idempotency-Key, sent again until charged: %s", &l.once.tally)
	l.figure("waiting for a silent resolver: %s", &l.waiting.tally)
	l.expect(l.waiting.hungUp > 0 && l.random.hungUp > 0, "no client hung up in time")
	l.expect(l.waiting.responses(200) == 0, "%d requests got 200 without the resolver", l.waiting.responses(200))
	l.expectContract(&l.random.tally)
	l.expectContract(&l.waiting.tally)
}

// expectLedger checks the ledger once no look-up is under way that could lead to a
// charge.
func (l *leaving) expectLedger() error {
	l.once.patience = nil
	if err := l.expectSettled(l.once); err != nil {
		return err
	}
	time.Sleep(2*time.Second + busy)
	if err := l.session.expectLedger(l.waiting.account, 0, 0); err != nil {
		return err
	}
	least, most := l.random.charged()
	used, err := l.used(l.random.account)
	l.figure("at any moment: %d points in responses <= %d in the ledger <= %d with those hung up", least, used, most)
	if err != nil {
		return err
	}
	return l.session.expectLedger(l.random.account, least, most)
}
