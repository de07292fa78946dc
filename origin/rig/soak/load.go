package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// A load is a group of clients of an account, each of which sends one request after another. It
// counts the responses, and what they and the requests without one may have cost.
type load struct {
	account   *account
	clients   int
	at        func(client int) (address string) // called before each connection
	next      func(client, n int) request
	each      int                                     // requests of each client; 0: until the load is stopped
	pace      time.Duration                           // between a client's requests
	reconnect bool                                    // for each request; else every second client keeps its connection
	once      bool                                    // send batches with an Idempotency-Key, each until it is charged
	leaves    bool                                    // a fifth of the clients hangs up early
	after     func(client int, o outcome) (goOn bool) // nil: clients never stop

	// gate is locked for reading during each request; locking it for writing waits
	// until no request is in flight.
	gate sync.RWMutex

	mu        sync.Mutex // guards all below
	requests  int
	points    int64 // that responses reported
	doubtful  int64 // of requests that were cut off without an Idempotency-Key: they may have been charged
	refused   int
	cuts      []error
	status    map[int]int
	good      []span // of responses with 200
	slowest   time.Duration
	odd       []error         // responses that differ from the contract
	stored    map[string]bool // the Idempotency-Keys of batches with a 200
	replays   int
	unsettled map[int]request // with Idempotency-Keys, by client: sent and without a 200
	serial    int             // number of the last batch with an Idempotency-Key
}

// A span is a period in which a request arrived.
type span struct{ begin, end time.Time }

// load returns a load of the account that is not started yet.
func (a *account) load(clients int, at func(client int) string, next func(client, n int) request) *load {
	l := &load{account: a, clients: clients, at: at, next: next, status: map[int]int{}, stored: map[string]bool{},
		unsettled: map[int]request{}}
	a.loads = append(a.loads, l)
	return l
}

// batches returns a load of batches with Idempotency-Keys.
func (a *account) batches(at func(client int) string) *load {
	l := a.load(4, at, func(client, n int) request { return batchOf(3+n%5, client*1_000_000+n) })
	l.once = true
	return l
}

// charged returns the points that the responses to all loads reported, without and with those in doubt.
func (a *account) charged() (least, most int64) {
	for _, l := range a.loads {
		l.mu.Lock()
		least, most = least+l.points, most+l.points+l.doubtful
		for _, r := range l.unsettled {
			most += r.cost()
		}
		l.mu.Unlock()
	}
	return least, most
}

// always returns one address for all clients.
func always(address string) func(int) string { return func(int) string { return address } }

// start runs the clients of loads until stop is called or ctx ends. Each finishes its request first.
func start(ctx context.Context, loads ...*load) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for _, l := range loads {
		all.Go(func() { l.run(ctx) })
	}
	return func() { cancel(); all.Wait() }
}

// run runs the clients until each has stopped by itself, or ctx ends.
func (l *load) run(ctx context.Context) {
	var clients sync.WaitGroup
	for id := range l.clients {
		clients.Go(func() {
			c := &client{key: l.account.key, keepAlive: id%2 == 0 && !l.reconnect}
			defer c.close()
			for n := 0; ctx.Err() == nil && (l.each == 0 || n < l.each); n++ {
				o := l.ask(c, id, n)
				if l.after != nil && !l.after(id, o) {
					return
				}
			}
		})
	}
	clients.Wait()
}

// refusedPause is the wait after a refused connection, so that clients do not spin
// while no process listens.
const refusedPause = 2 * time.Millisecond

// ask sends the client's n-th request, or again its batch that is not settled.
func (l *load) ask(c *client, id, n int) outcome {
	l.gate.RLock()
	if c.conn == nil {
		c.address = l.at(id)
	}
	l.mu.Lock()
	r, again := l.unsettled[id]
	if !again {
		r = l.next(id, n)
		if l.once {
			l.serial++
			r.once = fmt.Sprint("batch-", l.serial)
			l.unsettled[id] = r
		}
	}
	l.mu.Unlock()
	o := l.send(c, id, r)
	l.gate.RUnlock()
	pace := l.pace
	if o.err != nil && !o.sent {
		pace = max(pace, refusedPause)
	}
	time.Sleep(pace)
	return o
}

// send sends a request of a client and counts it.
func (l *load) send(c *client, id int, r request) outcome {
	if l.leaves && rand.IntN(5) == 0 {
		r.patience = rand.N(30 * time.Millisecond)
	}
	o := c.send(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	if o.err != nil && !o.sent {
		l.refused++
		return o
	}
	if o.err != nil {
		l.cuts = append(l.cuts, o.err)
		if r.once == "" {
			l.doubtful += r.cost()
		} else {
			l.unsettled[id] = r
		}
		return o
	}
	l.status[o.status]++
	l.slowest = max(l.slowest, o.took)
	points, err := o.points(r)
	if err != nil {
		l.odd = append(l.odd, err)
	}
	if o.status != 200 {
		return o
	}
	l.good = append(l.good, span{o.begun, o.begun.Add(o.took)})
	delete(l.unsettled, id)
	if r.once != "" && l.stored[r.once] { // its points were counted before
		l.replays++
		points = 0
		if o.header.Get("Idempotency-Replayed") != "true" {
			l.odd = append(l.odd, errors.New("a replay lacks Idempotency-Replayed: true"))
		}
	}
	l.stored[r.once] = true
	l.points += points
	return o
}

func (l *load) responses(status int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status[status]
}

// times returns how long each response with 200 took so far.
func (l *load) times() (list []time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.good {
		list = append(list, s.end.Sub(s.begin))
	}
	return list
}

// String returns the counts and times as one line.
func (l *load) String() string {
	took := l.times()
	l.mu.Lock()
	defer l.mu.Unlock()
	var statuses []string
	for status, count := range l.status {
		statuses = append(statuses, fmt.Sprintf("%d: %d", status, count))
	}
	slices.Sort(statuses)
	return fmt.Sprintf("%d requests (%s; refused: %d, cut: %d), %d points; p50 %s, p99 %s, slowest %s",
		l.requests, strings.Join(statuses, ", "), l.refused, len(l.cuts), l.points,
		round(percentile(took, 50)), round(percentile(took, 99)), round(l.slowest))
}

// awaitService sends a single until it gets 200, and returns how long that took.
func (s *session) awaitService(l *load) time.Duration {
	c := &client{address: l.at(0), key: l.account.key}
	begun := time.Now()
	for {
		o := l.send(c, -1, single("probe@mail.example"))
		if o.status == http.StatusOK {
			return time.Since(begun)
		}
		if time.Since(begun) > exchangeTimeout || s.ctx.Err() != nil {
			s.check(fmt.Errorf("no response with 200 after %s; the last is %d: %s", exchangeTimeout, o.status, o.body))
		}
		time.Sleep(refusedPause)
	}
}

// An account is an account with a key, and all loads that were sent with it.
type account struct {
	email, key string
	loads      []*load
}

const unlimited = "unlimited"

// newAccount creates an account with so many points a month, and a key, with the operator's
// commands.
func (s *session) newAccount(name, points string) *account {
	email := name + "@soak.test"
	key, err := origintest.Operator{Program: s.binary, Database: s.database}.NewAccount(s.ctx, email, unlimited, points)
	s.check(err)
	return &account{email: email, key: key}
}

// A row is a line of the output of the operator's commands.
type row struct {
	ID           int64
	Email, Name  string // of an account, of a key
	Used, Points any    // Used is of an account; Points are of a day, in the history
}

// operate runs a command of the operator and returns its output.
func (s *session) operate(command ...string) string {
	text, err := origintest.Operator{Program: s.binary, Database: s.database}.Run(s.ctx, command...)
	s.check(err)
	return text
}

// rows returns the output of a command.
func (s *session) rows(command ...string) (list []row) {
	for line := range strings.Lines(s.operate(append(command, "--to", "ndjson")...)) {
		var r row
		s.check(json.Unmarshal([]byte(line), &r))
		list = append(list, r)
	}
	return list
}

// used returns the account's points of this month.
func (s *session) used(a *account) (sum int64) {
	for _, r := range s.rows("account", "list") {
		if r.Email == a.email {
			sum += int64(r.Used.(float64))
		}
	}
	return sum
}

// expectLedger expects of each account that its points are those that the responses to its loads
// reported, and at most those of requests without a response besides; that its history sums to
// them; and that the responses are as the contract requires. SQLite's file must be intact. It
// pauses the loads meanwhile.
func (s *session) expectLedger(accounts ...*account) {
	for _, a := range accounts {
		for _, l := range a.loads {
			l.gate.Lock()
			defer l.gate.Unlock()
		}
	}
	for _, a := range accounts {
		least, most := a.charged()
		used, history := s.used(a), int64(0)
		for _, r := range s.rows("usage", "--account", a.email, "--first", "1970-01-01", "--last", "2999-12-31") {
			history += int64(r.Points.(float64))
		}
		s.expect(used >= least, "%s: the ledger has %d points, responses reported %d", a.email, used, least)
		s.expect(used <= most, "%s: the ledger has %d points, at most %d can have been charged", a.email, used, most)
		s.expect(used == history, "%s: the history sums to %d points, the account has %d", a.email, history, used)
		for _, l := range a.loads {
			for _, err := range l.odd[:min(3, len(l.odd))] {
				s.expect(false, "%s: %v", a.email, err)
			}
			l.odd = nil
		}
	}
	if s.kind == sqlite {
		db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(s.database,
			"sqlite:")+"?_pragma=busy_timeout(5000)&_pragma=query_only(1)")
		s.check(err)
		defer db.Close()
		var result string
		s.check(db.QueryRowContext(s.ctx, "PRAGMA integrity_check").Scan(&result))
		s.expect(result == "ok", "integrity check: %s", result)
	}
}

// settleTimeout is longer than the second of a commit, and shorter than a lease on
// the Idempotency-Key would be.
const settleTimeout = 5 * time.Second

// settle sends each batch of a stopped load with Idempotency-Keys that got no response until it is
// charged. Then its responses and the ledger agree exactly, whatever was killed or cut. No lease
// has to expire first: a batch whose process was killed is served at once.
func (s *session) settle(l *load) {
	c := &client{address: l.at(0), key: l.account.key, keepAlive: true}
	defer c.close()
	open := len(l.unsettled)
	for id, r := range l.unsettled {
		for deadline := time.Now().Add(settleTimeout); ; time.Sleep(10 * time.Millisecond) {
			o := l.send(c, id, r)
			if o.status == 200 {
				break
			}
			if time.Now().After(deadline) {
				s.check(fmt.Errorf("a batch with an Idempotency-Key is not settled after %s; the last response is %d: %s",
					settleTimeout, o.status, o.body))
			}
		}
	}
	s.figure("with Idempotency-Key: %d batches sent again at the end; then %d points in responses = ledger; %s", open,
		l.points, l)
}
