package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/pgtest"
)

// floodedReplicas has clients of one account exceed its rate by far, on four
// replicas (two with SQLite), while another account keeps the database busy. With
// PostgreSQL the rows of all accounts are also often locked for a moment.
func floodedReplicas(s *session) error {
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

// contend adds transactions of another account and, with PostgreSQL, row locks.
func (s *session) contend(at func(int) string) (stop func(), err error) {
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

// lockOften repeatedly locks the rows of all accounts for a moment, as another
// program on the database may.
func (s *session) lockOften(ctx context.Context, pg *pgtest.Server) {
	for ctx.Err() == nil {
		_ = pg.Exec(ctx, s.database, `BEGIN; SELECT id FROM accounts ORDER BY id FOR UPDATE; SELECT pg_sleep(0.03); COMMIT`)
		time.Sleep(20 * time.Millisecond)
	}
}

// bucketDelay is the longest time from taking a token on arrival until it is
// entered in the shared bucket.
const bucketDelay = 100 * time.Millisecond

// flood has all clients exceed the account's rate. Counted by arrival, a bucket
// allows in any time T at most its capacity, which is the tokens of one second,
// and rate x (T + bucketDelay).
func (s *session) flood(at func(int) string, rate int, span time.Duration) error {
	a, err := s.newAccount("rate", fmt.Sprint(rate), unlimited)
	if err != nil {
		return err
	}
	f := &flooded{rate: float64(rate)}
	f.load = load{account: a, clients: 2 * buyers, at: at, next: mostlyCharged, finished: f.record}
	stop := f.start(s.ctx)
	time.Sleep(span)
	stop()
	f.judge(s)
	s.expectContract(&f.tally)
	return s.expectLedger(a, f.points, f.points)
}

// mostlyCharged returns singles, some of which fail and are not charged.
func mostlyCharged(client, n int) request {
	if n%8 == 0 {
		return mixed(client, 0)
	}
	return usual(n)
}

// flooded is a load that exceeds its account's rate, and the arrivals of its
// charged requests.
type flooded struct {
	load
	rate    float64
	own     sync.Mutex // guards charged
	charged []span
}

// A span is a period in which a request arrived.
type span struct{ begin, end time.Time }

// record keeps the span of a charged request.
func (f *flooded) record(_ int, _ request, o outcome) (goOn bool) {
	if o.status == 200 {
		f.own.Lock()
		f.charged = append(f.charged, span{o.begun, o.begun.Add(o.took)})
		f.own.Unlock()
	}
	time.Sleep(time.Millisecond)
	return true
}

// most returns how many requests that arrive within t may be charged.
func (f *flooded) most(t time.Duration) float64 { return f.rate * (1 + (t + bucketDelay).Seconds()) }

// judge checks the whole run and the worst window of it.
func (f *flooded) judge(s *session) {
	slices.SortFunc(f.charged, func(a, b span) int { return a.end.Compare(b.end) })
	whole, worst := f.whole(), f.worst()
	s.figure("rate of %.0f/s, %s", f.rate, &f.tally)
	for _, w := range []window{whole, worst} {
		s.figure("in a window of %s: %d charged, at most %.0f allowed", round(w.length), w.count, f.most(w.length))
		s.expect(float64(w.count) <= f.most(w.length), "%d were charged in %s, at most %.0f are allowed", w.count, round(w.length), f.most(w.length))
	}
	taken := whole.count + f.responses(503) // a 503 took its token on arrival
	s.expect(float64(taken) >= f.rate*(whole.length.Seconds()-1), "only %d requests got a token in %s", taken, round(whole.length))
}

// whole returns the window from the first request to the last response.
func (f *flooded) whole() window {
	if len(f.charged) == 0 {
		return window{}
	}
	first := slices.MinFunc(f.charged, func(a, b span) int { return a.begin.Compare(b.begin) })
	return window{f.charged[len(f.charged)-1].end.Sub(first.begin), len(f.charged)}
}

// A window is a period and the number of requests that certainly arrived in it.
type window struct {
	length time.Duration
	count  int
}

// worst returns the window that exceeds its limit most. A window begins when a
// request is sent and ends with a response. It counts the requests that were both
// sent and answered in it.
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
