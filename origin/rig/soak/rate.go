package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/addrspec/addrspec/origin/rig/pgtest"
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
// sent and served in it.
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

// paced has clients send requests exactly at their rates. The work takes 0 to 5
// seconds. No client gets a 429.
func paced(s *session) error {
	s.dns.RespondAll(asNamed)
	p, err := s.start("--dns-timeout", "6s", "--batch-timeout", "8s")
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	var clients []*pacer
	for _, rate := range []int{1, 5} {
		c, err := s.newPacer(rate, p.address)
		if err != nil {
			return err
		}
		clients = append(clients, c)
		all.Go(func() { c.run(s.span(60 * time.Second)) })
	}
	all.Wait()
	for _, c := range clients {
		if err := c.judge(); err != nil {
			return err
		}
	}
	return nil
}

// A pacer sends one request every interval, whether the last one has finished or
// not. It follows a schedule of absolute times. At 1/s it also sends no request
// less than an interval after the last one has certainly arrived, so that a delay
// of a busy machine does not look like a client that exceeds its rate.
type pacer struct {
	*session
	load
	rate     int
	interval time.Duration
	late     time.Duration // the longest delay of a request after its time
}

func (s *session) newPacer(rate int, address string) (*pacer, error) {
	a, err := s.newAccount(fmt.Sprintf("paced-%d", rate), fmt.Sprint(rate), unlimited)
	c := &pacer{session: s, rate: rate, interval: time.Second / time.Duration(rate)}
	c.load = load{account: a, at: always(address)}
	return c, err
}

func (c *pacer) run(length time.Duration) {
	var under sync.WaitGroup
	defer under.Wait()
	first := time.Now()
	due := first
	for n := 0; due.Sub(first) <= max(length, 6*time.Second) && c.ctx.Err() == nil; n++ {
		time.Sleep(time.Until(due))
		r := slowWork(n)
		ended := make(chan struct{})
		under.Go(func() { c.ask(&client{key: c.account.key}, 0, r); close(ended) })
		arrived := c.awaitArrival(r, ended)
		due = first.Add(time.Duration(n+1) * c.interval)
		if c.rate == 1 && due.Before(arrived.Add(c.interval)) { // the bucket has no spare token
			due = arrived.Add(c.interval)
		}
		c.late = max(c.late, arrived.Sub(due)+c.interval)
	}
}

// awaitArrival returns the time when the program has certainly received the request:
// when it looks up the domain, or responds.
func (c *pacer) awaitArrival(r request, ended <-chan struct{}) time.Time {
	_, domain, _ := strings.Cut(r.emails[0], "@")
	for c.dns.Asked(domain) == 0 {
		select {
		case <-ended:
			return time.Now()
		case <-time.After(time.Millisecond):
		}
	}
	return time.Now()
}

// slowWork returns a request whose lookup takes 5 s one time in ten, and up to half
// a second otherwise.
func slowWork(n int) request {
	wait := waits(time.Duration(n%10) * 50 * time.Millisecond)
	if n%10 == 9 {
		wait = waits(5 * time.Second)
	}
	if n%3 == 0 {
		return newBatch(wait, 2)
	}
	return single(newEmail(wait))
}

func (c *pacer) judge() error {
	c.figure("%d/s, sent at most %s late: %s", c.rate, round(c.late), &c.tally)
	c.expect(c.responses(200) == c.requests, "%d/s: %d of %d requests got no 200, %d of them 429", c.rate, c.requests-c.responses(200), c.requests, c.responses(429))
	c.expectContract(&c.tally)
	return c.expectLedger(c.account, c.points, c.points)
}
