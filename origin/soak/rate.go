package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// floodedReplicas has clients of one account ask for far more than its rate, on
// four replicas (two on SQLite), while another account keeps the database busy
// and, on PostgreSQL, the rows of all accounts are often locked for a moment.
func floodedReplicas(s *scene) error {
	count := 4
	if s.kind == sqlite {
		count = 2
	}
	r, err := s.startReplicas(count)
	if err != nil {
		return err
	}
	stop, err := s.contend(r.byClient)
	if err != nil {
		return err
	}
	defer stop()
	return s.flood(r.byClient, 200, s.span(16*time.Second))
}

// contend has another account's clients put transactions in the way, and locks.
func (s *scene) contend(at func(int) string) (stop func(), err error) {
	a, err := s.newAccount("neighbour", unlimited, unlimited)
	if err != nil {
		return nil, err
	}
	l := &load{account: a, clients: 8, at: at, next: mixed}
	stopLoad := l.start(s.ctx)
	if s.kind == sqlite {
		return stopLoad, nil
	}
	pg, err := s.postgres()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(s.ctx)
	go s.lockOften(ctx, pg)
	return func() { cancel(); stopLoad() }, nil
}

// lockOften locks the accounts for a moment, again and again, as another
// program on the database may.
func (s *scene) lockOften(ctx context.Context, pg *pgtest.Server) {
	for ctx.Err() == nil {
		_ = pg.Exec(ctx, s.database, `BEGIN; SELECT id FROM accounts ORDER BY id FOR UPDATE; SELECT pg_sleep(0.03); COMMIT`)
		time.Sleep(20 * time.Millisecond)
	}
}

// postDelay is the time after which a token that was taken on arrival is
// entered in the shared bucket at the latest.
const postDelay = 100 * time.Millisecond

// flood has all clients ask for more than the account's rate. Counted by
// arrival, a bucket gives in any time T at most its capacity, which is one
// second's tokens, and rate x (T + postDelay).
func (s *scene) flood(at func(int) string, rate int, span time.Duration) error {
	a, err := s.newAccount("rate", fmt.Sprint(rate), unlimited)
	if err != nil {
		return err
	}
	f := &flooded{rate: float64(rate)}
	f.load = load{account: a, clients: 2 * buyers, at: at, next: mostlyCharged, finished: f.learn}
	stop := f.start(s.ctx)
	time.Sleep(span)
	stop()
	f.judge(s)
	s.expectContract(&f.tally)
	return s.expectBooks(a, f.points, f.points)
}

// mostlyCharged is singles, some of which fail and are not charged.
func mostlyCharged(client, n int) request {
	if n%8 == 0 {
		return mixed(client, 0)
	}
	return usual(n)
}

// flooded is a load beyond its account's rate, and when its charged requests
// arrived.
type flooded struct {
	load
	rate    float64
	own     sync.Mutex
	charged []span
}

// A span is a time within which a request arrived.
type span struct{ begin, end time.Time }

func (f *flooded) learn(_ int, _ request, o outcome) (goOn bool) {
	if o.status == 200 {
		f.own.Lock()
		f.charged = append(f.charged, span{o.begun, o.begun.Add(o.took)})
		f.own.Unlock()
	}
	time.Sleep(time.Millisecond)
	return true
}

// most is how many requests that arrive in a time may be charged.
func (f *flooded) most(t time.Duration) float64 { return f.rate * (1 + (t + postDelay).Seconds()) }

func (f *flooded) judge(s *scene) {
	slices.SortFunc(f.charged, func(a, b span) int { return a.end.Compare(b.end) })
	whole, worst := f.whole(), f.worst()
	s.figure("rate of %.0f/s, %s", f.rate, &f.tally)
	for _, w := range []window{whole, worst} {
		s.figure("in a window of %s: %d charged, at most %.0f may be", round(w.length), w.count, f.most(w.length))
		s.expect(float64(w.count) <= f.most(w.length), "%d were charged in %s, at most %.0f may be", w.count, round(w.length), f.most(w.length))
	}
	taken := whole.count + f.answers(503) // a token is taken on arrival
	s.expect(float64(taken) >= f.rate*(whole.length.Seconds()-1), "only %d got a token in %s", taken, round(whole.length))
}

// whole is the time from the first request to the last answer.
func (f *flooded) whole() window {
	if len(f.charged) == 0 {
		return window{}
	}
	first := slices.MinFunc(f.charged, func(a, b span) int { return a.begin.Compare(b.begin) })
	return window{f.charged[len(f.charged)-1].end.Sub(first.begin), len(f.charged)}
}

// A window is a time and the requests that certainly arrived in it.
type window struct {
	length time.Duration
	count  int
}

// worst is the window with the most requests beyond what it may have. A window
// begins when a request is sent, and ends when one is answered; it counts the
// requests that were sent and answered in it.
func (f *flooded) worst() (worst window) {
	over := func(w window) float64 { return float64(w.count) - f.most(w.length) }
	for _, first := range f.charged {
		w := window{}
		for _, c := range f.charged {
			if c.begin.Before(first.begin) {
				continue
			}
			w.count++
			w.length = c.end.Sub(first.begin)
			if worst.count == 0 || over(w) > over(worst) {
				worst = w
			}
		}
	}
	return worst
}
