package main

import (
	"math"
	"math/rand/v2"
	"time"
)

// leavers has clients hang up at random moments after they sent a request. Who
// left before the transaction took the request up is not charged.
func leavers(s *scene) error {
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
	return l.expectBooks()
}

// leaving is three groups of clients that hang up.
type leaving struct {
	*scene
	random  *load     // at any moment
	once    *onceLoad // at any moment, then sends the batch again
	waiting *load     // while the request waits for a silent resolver
}

func (s *scene) newLeavers(at func(int) string) (*leaving, error) {
	var accounts []account
	for _, name := range []string{"random", "once", "waiting"} {
		a, err := s.newAccount(name, unlimited, unlimited)
		if err != nil {
			return nil, err
		}
		accounts = append(accounts, a)
	}
	l := &leaving{scene: s}
	l.random = &load{account: accounts[0], clients: 8, at: at, next: mixed, patience: soon}
	l.once = newOnceLoad(accounts[1], at)
	l.once.patience = soon
	l.waiting = &load{account: accounts[2], clients: 8, at: at, next: waiting, patience: whileWaiting}
	return l, nil
}

// soon is 1 µs to 30 ms, which is about as long as a request takes; short times
// are more frequent.
func soon() time.Duration {
	return time.Microsecond + time.Duration(float64(30*time.Millisecond)*math.Pow(rand.Float64(), 3))
}

// whileWaiting is when a request has begun its look-up, and has not timed out.
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
	l.figure("with Idempotency-Key, sent again until answered: %s", &l.once.tally)
	l.figure("waiting for a silent resolver: %s", &l.waiting.tally)
	l.expect(l.waiting.left > 0 && l.random.left > 0, "no client hung up in time")
	l.expect(l.waiting.answers(200) == 0, "%d requests were answered without the resolver", l.waiting.answers(200))
	l.expectContract(&l.random.tally)
	l.expectContract(&l.waiting.tally)
}

// expectBooks reads the ledger once no look-up is left that could still charge.
func (l *leaving) expectBooks() error {
	l.once.patience = nil
	if err := l.expectSettled(l.once); err != nil {
		return err
	}
	time.Sleep(2*time.Second + busy)
	if err := l.scene.expectBooks(l.waiting.account, 0, 0); err != nil {
		return err
	}
	least, most := l.random.charged()
	used, err := l.used(l.random.account)
	l.figure("at any moment: %d points answered <= %d in the ledger <= %d answered or hung up", least, used, most)
	if err != nil {
		return err
	}
	return l.scene.expectBooks(l.random.account, least, most)
}
