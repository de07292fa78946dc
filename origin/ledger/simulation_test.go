package ledger_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
)

// Simulated time: all that sleeps here and in simulation_store_test.go runs in TestSimulation's bubble.

// Three replicas charge the accounts of one database while it fails in many ways, and the
// invariants of charging hold. A seed decides what happens, in simulated time. A seed that
// fails runs alone with ADDRSPEC_SEED=N, which also prints what happened. It may need -count=9,
// because Go decides the order of what happens at one instant.
func TestSimulation(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that it decides alike
	first, seeds := uint64(1), uint64(60)
	if testing.Short() {
		seeds = 8
	}
	if os.Getenv("ADDRSPEC_ALL") != "" {
		first, seeds = uint64(time.Now().Unix())<<16, 5000
	}
	if text := os.Getenv("ADDRSPEC_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
		first, seeds = seed, 1
	}
	for seed := first; seed < first+seeds && !t.Failed(); seed++ {
		t.Run(fmt.Sprint("ADDRSPEC_SEED=", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newWorld(t, seed, seeds == 1).run() })
		})
	}
}

// The world.

// duration is how long faults happen; then everything has to recover within recovery.
const (
	duration = 20 * time.Second
	recovery = time.Minute
	slowDisk = 40 * time.Millisecond // as a hard disk that others use
)

type world struct {
	*testing.T
	seed     uint64
	actors   uint64 // that have got random numbers
	verbose  bool
	start    time.Time     // of the faults; zero before
	offset   time.Duration // of the database's clock
	faults   faults
	path     string
	disk     chan struct{} // has an element while a transaction runs
	layers   []*layer
	replicas []*ledger.Ledger
	all      sync.WaitGroup // actors

	mu       sync.Mutex      // guards what follows, and all accounts
	locked   map[int64]int64 // transactions of other sessions that have locked an account
	accounts []*account
	crowd    []*account
}

// newWorld draws a world. Its clock is near the end of a month, which half of the worlds reach.
func newWorld(t *testing.T, seed uint64, verbose bool) *world {
	w := &world{T: t, seed: seed, verbose: verbose, disk: make(chan struct{}, 1), locked: map[int64]int64{},
		path: filepath.Join(t.TempDir(), "ledger.db")}
	rng := w.random()
	w.offset = time.Until(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)) - upTo(rng, 2*duration)
	draw := func() bool { return rng.IntN(2) == 0 }
	w.faults.crowd = rng.IntN(8) == 0
	if !w.faults.crowd && rng.IntN(4) > 0 {
		w.faults = faults{outages: draw(), locks: draw(), rejects: draw(), operators: draw()}
	}
	w.faults.pace = time.Millisecond
	if draw() {
		w.faults.pace = slowDisk
	}
	for range 3 {
		l := &layer{world: w, rng: [2]*rand.Rand{w.random(), w.random()}}
		replica, err := ledger.Open(t.Context(), "sqlite:"+w.path, ledger.WithClock(w.now), ledger.WithStore(func(s store.Store) store.Store {
			l.Store = s
			return l
		}))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, replica.Close()) })
		w.layers, w.replicas = append(w.layers, l), append(w.replicas, replica)
	}
	return w
}

// random returns the random numbers of another actor.
func (w *world) random() *rand.Rand {
	w.actors++
	return rand.New(rand.NewPCG(w.seed, w.actors))
}

// now is the database's time.
func (w *world) now() time.Time { return time.Now().Add(w.offset) }

// quiet reports whether the faults have ended or not begun.
func (w *world) quiet() bool { return w.start.IsZero() || time.Since(w.start) > duration }

// fail fails the simulation. It runs in any goroutine, so it does not end it.
func (w *world) fail(format string, args ...any) {
	w.Errorf("seed %d, %s: "+format, append([]any{w.seed, w.now().UTC().Format(time.StampMicro)}, args...)...)
}

// trace prints what happened, if the seed runs alone.
func (w *world) trace(format string, args ...any) {
	if w.verbose {
		w.Logf("%s "+format, append([]any{w.now().UTC().Format(time.StampMicro)}, args...)...)
	}
}

func (w *world) run() {
	rng := w.random()
	paced := w.newAccount("paced@example.com", 10, book.Unlimited, nil)
	for n := range 4 {
		w.newAccount(fmt.Sprintf("limited%d@example.com", n), book.Limit(2+rng.IntN(20)), book.Limit(50+rng.IntN(400)), ledgertest.Limit(book.Limit(20+rng.IntN(100))))
	}
	free := w.newAccount("unlimited@example.com", book.Unlimited, book.Unlimited, nil)
	victim := w.newAccount("victim@example.com", book.Unlimited, book.Unlimited, nil)
	w.prepareFaults(victim)
	w.start = time.Now()
	w.trace("%+v", w.faults)

	w.actor(func(rng *rand.Rand) { w.keepRate(paced, rng) })
	for _, a := range w.accounts[1:] {
		for range 3 {
			w.actor(func(rng *rand.Rand) { w.client(a, rng) })
		}
		if w.faults.operators && a != free && a != victim {
			w.actor(func(rng *rand.Rand) { w.operate(a, rng) })
		}
	}
	if w.faults.locks {
		w.actor(func(rng *rand.Rand) { w.lockAndUnlock(victim, rng) })
	}
	w.actor(func(*rand.Rand) {
		for ; !w.quiet(); time.Sleep(time.Second / 5) {
			w.checkRows()
		}
	})
	w.all.Wait()
	w.recover()
	w.checkBooks(false)
	w.checkLiveness()
	w.checkBooks(true)
}

// with runs a change of the accounts or locks.
func (w *world) with(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// actor runs work with random numbers of its own.
func (w *world) actor(work func(*rand.Rand)) {
	rng := w.random()
	w.all.Go(func() { work(rng) })
}

// An account has a book of what its requests should have cost.
type account struct {
	id       int64
	rate     book.Limit // the highest that it had
	points   book.Limit // the same
	limits   []*period  // of points
	secrets  []*secret  // also those that are not valid any more
	closed   time.Time  // suspended or deleted since; zero if it may be charged
	deleted  bool       // or about to be
	rejected bool       // its rows are
	locked   bool       // now and then
	requests int64      // that were admitted
	sold     int64      // points
	soldBy   [3]map[time.Month]int64
	arrivals []time.Time // of charged requests
	retries  []*retry
}

// A period is when a limit applied.
type period struct {
	limit book.Limit
	to    time.Time // zero if it still may
}

type secret struct {
	text    string
	key     int64
	invalid time.Time // since then; zero if it is valid
}

// A retry is a request with an Idempotency-Key that clients send several times.
type retry struct {
	ledger.Idempotency
	points   int64
	attempts map[string]bool // responses that may have been charged
	sent     int             // responses
	winner   string          // the response that was charged, once it is known
}

// newResponse returns a response that no other request has.
func (x *retry) newResponse() string {
	x.sent++
	response := fmt.Sprint("response ", x.sent)
	x.attempts[response] = true
	return response
}

func (w *world) newAccount(email string, rate, points book.Limit, budget *book.Limit) *account {
	text, id := ledgertest.NewAccountOn(w, w.replicas[0], email, book.Terms{Rate: &rate, Points: &points})
	a := &account{id: id, rate: rate, points: points, limits: []*period{{limit: points}}, secrets: []*secret{{text: text}}}
	keys, err := w.replicas[0].ListKeys(w.Context(), id, book.KeyPage{})
	require.NoError(w, err)
	a.secrets[0].key = keys[0].ID
	if budget != nil {
		text, key, err := w.replicas[0].CreateKey(w.Context(), id, "budget", book.KeyTerms{Budget: budget})
		require.NoError(w, err)
		a.secrets = append(a.secrets, &secret{text: text, key: key.ID})
	}
	for n := range a.soldBy {
		a.soldBy[n] = map[time.Month]int64{}
	}
	w.accounts = append(w.accounts, a)
	return a
}

// The faults that are not a layer's.

func (w *world) prepareFaults(victim *account) {
	if w.faults.rejects {
		victim.rejected = true
		w.sql(fmt.Sprintf("CREATE TRIGGER reject BEFORE INSERT ON usage WHEN NEW.account = %d BEGIN SELECT RAISE(ABORT, 'simulated'); END", victim.id))
	}
	victim.locked = w.faults.locks
	if !w.faults.crowd {
		return
	}
	few := len(w.accounts)
	for n := range 1200 {
		w.newAccount(fmt.Sprintf("crowd%d@example.com", n), 5, book.Unlimited, nil)
	}
	w.accounts, w.crowd = w.accounts[:few], w.accounts[few:]
	w.actor(func(rng *rand.Rand) {
		time.Sleep(upTo(rng, duration/2))
		w.layers[0].hang(2 * time.Second)
		time.Sleep(time.Second / 2) // so that it does
		for _, a := range w.crowd {
			came := upTo(rng, time.Second/4)
			w.all.Go(func() {
				time.Sleep(came)
				w.request(a, &call{secret: a.secrets[0]})
			})
		}
	})
}

// lockAndUnlock is another session that locks an account's rows.
func (w *world) lockAndUnlock(a *account, rng *rand.Rand) {
	for holder := int64(1); !w.quiet(); holder++ {
		time.Sleep(upTo(rng, 2*time.Second))
		w.with(func() { w.locked[a.id] = holder })
		time.Sleep(upTo(rng, 3*time.Second))
		w.with(func() { w.locked[a.id] = 0 })
	}
}

// Clients.

// A call is what a client decides about a request.
type call struct {
	replica int
	secret  *secret
	points  int64 // 0 for a request that ends before its work
	once    *retry
	work    time.Duration
	leave   time.Duration // until the client hangs up; 0 for never

	began    time.Time // the step in progress
	sold     int64     // points that its replica had sold this month
	arrival  time.Time
	response string // to store for the Idempotency-Key
}

// client sends requests as fast as the replica is, or pauses.
func (w *world) client(a *account, rng *rand.Rand) {
	for !w.quiet() {
		time.Sleep(upTo(rng, time.Duration(1+rng.IntN(4))*50*time.Millisecond))
		c := w.draw(a, rng)
		w.request(a, c)
	}
}

func (w *world) draw(a *account, rng *rand.Rand) *call {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &call{replica: rng.IntN(3), secret: a.secrets[rng.IntN(len(a.secrets))], points: 1 + rng.Int64N(9), work: upTo(rng, 100*time.Millisecond)}
	if rng.IntN(20) == 0 {
		c.work *= 20
	}
	if rng.IntN(4) == 0 {
		c.leave = upTo(rng, 2*c.work)
	}
	switch n := len(a.retries); {
	case rng.IntN(3) > 0:
	case n > 0 && rng.IntN(3) > 0: // one of the last few
		c.once = a.retries[n-1-rng.IntN(min(n, 4))]
		c.points = c.once.points
	default:
		id := sha256.Sum256(fmt.Append(nil, a.id, n))
		c.once = &retry{Idempotency: ledger.Idempotency{ID: id, Body: id}, points: c.points, attempts: map[string]bool{}}
		a.retries = append(a.retries, c.once)
	}
	return c
}

// keepRate is a client that sends exactly the requests of its rate, whose work takes up to
// five seconds. Without faults of the whole database, each of them is charged.
func (w *world) keepRate(a *account, rng *rand.Rand) {
	every := time.Second / time.Duration(a.rate)
	for next := time.Now(); !w.quiet(); next = next.Add(every) {
		time.Sleep(time.Until(next))
		c := &call{replica: rng.IntN(3), secret: a.secrets[0], points: 1, work: upTo(rng, time.Second/10)}
		if rng.IntN(10) == 0 {
			c.work *= 50
		}
		w.all.Go(func() {
			if kind, err := w.request(a, c); (err != nil || kind != ledger.Good) && !w.faults.outages && !w.faults.crowd {
				w.fail("a client that keeps its rate gets %v, %v", kind, err)
			}
		})
	}
}

// request runs a request and returns what ended it.
func (w *world) request(a *account, c *call) (ledger.Kind, error) {
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	if c.leave > 0 {
		defer time.AfterFunc(c.leave, leave).Stop()
	}
	var r *ledger.Request
	d, err := w.step(a, c, "begin", func() (d ledger.Decision, err error) {
		r, d, err = w.replicas[c.replica].Begin(ctx, c.secret.text, "")
		return d, err
	})
	if r == nil {
		return d.Kind, err
	}
	defer r.End()
	if c.points == 0 {
		return d.Kind, nil
	}
	var once *ledger.Idempotency
	charge := ledger.Charge{Points: c.points, Found: book.Found{Valid: c.points}}
	if c.once != nil {
		once = &c.once.Idempotency
	}
	d, err = w.step(a, c, "claim", func() (ledger.Decision, error) { return r.Claim(c.points, once) })
	if err != nil || d.Kind != ledger.Good {
		return d.Kind, err
	}
	if sleep(r.Context(), c.work) != nil && c.leave%2 == 0 {
		return d.Kind, r.Context().Err() // the others charge what they have done
	}
	if c.once != nil {
		w.with(func() { c.response = c.once.newResponse() })
		charge.Response = []byte(c.response)
	}
	d, err = w.step(a, c, "charge", func() (ledger.Decision, error) { return r.Charge(charge) })
	return d.Kind, err
}

// step runs a step of a request, judges its result and enters it in the account's book.
func (w *world) step(a *account, c *call, step string, run func() (ledger.Decision, error)) (ledger.Decision, error) {
	w.with(func() { c.began, c.sold = time.Now(), a.soldBy[c.replica][w.now().Month()] })
	d, err := run()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace("account %d, replica %d, key %d: %s since %s: %v, %v", a.id, c.replica, c.secret.key, step, time.Since(c.began), d.Kind, err)
	month := w.now().Month()
	sameMonth := c.began.Add(w.offset).Month() == month
	w.judge(a, c, step, d, err, sameMonth)
	switch good := err == nil && d.Kind == ledger.Good; {
	case err == nil && d.Kind == ledger.Replayed:
		w.book(a, c, string(d.Response))
	case step == "begin" && good: // no time has passed since it took its token
		a.requests++
		c.arrival = time.Now()
	case step == "charge" && good:
		a.arrivals = append(a.arrivals, c.arrival)
		if w.book(a, c, c.response); sameMonth {
			a.soldBy[c.replica][month] += c.points
		}
	case step == "charge" && c.once != nil && !errors.Is(err, ledger.ErrUndecided):
		delete(c.once.attempts, c.response)
		if c.once.winner == c.response {
			w.fail("account %d: a request was charged, and refused or withdrawn", a.id)
		}
	}
	return d, err
}

// book enters a charge, or the replay of one. One Idempotency-Key is charged once, and each
// of its requests gets the response of the one that was charged.
func (w *world) book(a *account, c *call, response string) {
	x := c.once
	switch {
	case x == nil:
	case !x.attempts[response]:
		w.fail("account %d: a response of no request that may have been charged: %q", a.id, response)
		return
	case x.winner != "" && x.winner != response:
		w.fail("account %d: two responses for one Idempotency-Key: %q and %q", a.id, x.winner, response)
		return
	case x.winner != "":
		return
	default:
		x.winner = response
	}
	a.sold += c.points
}

// judge checks the result of a step.
func (w *world) judge(a *account, c *call, step string, d ledger.Decision, err error, sameMonth bool) {
	paid := err == nil && (step == "charge" && d.Kind == ledger.Good || d.Kind == ledger.Replayed)
	for what, since := range map[string]time.Time{"the account was suspended": a.closed, "the key was revoked": c.secret.invalid} {
		if paid && !since.IsZero() && since.Before(c.began) {
			w.fail("account %d: a %s succeeded that began %s after %s", a.id, step, c.began.Sub(since), what)
		}
	}
	healthy := !a.rejected && !a.locked && !w.faults.outages && !w.faults.crowd
	switch {
	case errors.Is(err, ledger.ErrRecord) && !a.rejected, err != nil && healthy && !errors.Is(err, context.Canceled):
		w.fail("account %d gets %v in a %s, and nothing is wrong with it", a.id, err, step)
	case err == nil && d.Kind == ledger.Insufficient:
		w.judgeLimit(a, c, step, d)
	}
	if err == nil && d.Usage != nil && sameMonth && d.Usage.Current < c.sold {
		w.fail("account %d: replica %d has forgotten a charge: %d points used, and it had sold %d", a.id, c.replica, d.Usage.Current, c.sold)
	}
}

// judgeLimit checks that points are refused by a limit that applied lately.
func (w *world) judgeLimit(a *account, c *call, step string, d ledger.Decision) {
	since := c.began
	if step == "claim" {
		since = c.began.Add(-50 * time.Millisecond) // the age of a view that may refuse
	}
	if !slices.ContainsFunc(a.limits, func(p *period) bool {
		return int64(p.limit) == d.Usage.Limit && (p.to.IsZero() || !p.to.Before(since))
	}) {
		w.fail("account %d: replica %d refuses a %s by the limit %d, which does not apply any more", a.id, c.replica, step, d.Usage.Limit)
	}
}

// Operators.

// operate changes an account and its keys.
func (w *world) operate(a *account, rng *rand.Rand) {
	for !w.quiet() {
		time.Sleep(upTo(rng, 2*time.Second))
		l := w.replicas[rng.IntN(3)]
		var s *secret
		w.with(func() { s = a.secrets[rng.IntN(len(a.secrets))] })
		switch rng.IntN(12) {
		case 0, 1:
			w.change(a, "revoke", l.RevokeKey(context.Background(), a.id, s.key), func() { w.invalidate(a, s.key) })
			w.addKey(a, l)
		case 2, 3:
			grace := time.Duration(rng.IntN(2)) * upTo(rng, time.Second)
			text, _, err := l.RotateKey(context.Background(), a.id, s.key, grace)
			w.change(a, "rotate", err, func() {
				if grace == 0 {
					w.invalidate(a, s.key)
				}
				a.secrets = append(a.secrets, &secret{text: text, key: s.key})
			})
		case 4, 5:
			w.change(a, "suspend", l.SuspendAccount(context.Background(), a.id), func() { a.closed = time.Now() })
			time.Sleep(upTo(rng, time.Second))
			w.with(func() { a.closed = time.Time{} })
			for l.ResumeAccount(context.Background(), a.id) != nil {
				time.Sleep(time.Second)
			}
		case 6:
			if rng.IntN(4) == 0 {
				w.delete(a, l)
				return
			}
		default:
			w.setLimit(a, l, book.Limit(50+rng.IntN(800)))
		}
	}
}

// change makes an operator's change known to the clients. w.mu is held by then.
func (w *world) change(a *account, what string, err error, known func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace("account %d: %s: %v", a.id, what, err)
	if err == nil {
		known()
	}
}

func (w *world) invalidate(a *account, key int64) {
	for _, s := range a.secrets {
		if s.key == key && s.invalid.IsZero() {
			s.invalid = time.Now()
		}
	}
}

func (w *world) addKey(a *account, l *ledger.Ledger) (s *secret) {
	text, key, err := l.CreateKey(context.Background(), a.id, "another", book.KeyTerms{})
	w.change(a, "create a key", err, func() {
		s = &secret{text: text, key: key.ID}
		a.secrets = append(a.secrets, s)
	})
	return s
}

func (w *world) setLimit(a *account, l *ledger.Ledger, points book.Limit) {
	w.with(func() { a.limits, a.points = append(a.limits, &period{limit: points}), max(a.points, points) })
	w.change(a, fmt.Sprint("limit ", points), l.ChangeTerms(context.Background(), a.id, book.Terms{Rate: &a.rate, Points: &points}), func() {
		for _, p := range a.limits[:len(a.limits)-1] {
			if p.to.IsZero() {
				p.to = time.Now()
			}
		}
	})
}

func (w *world) delete(a *account, l *ledger.Ledger) {
	w.with(func() { a.deleted = true })
	for {
		err := l.DeleteAccount(context.Background(), a.id)
		w.change(a, "delete", err, func() { a.closed = time.Now() })
		if err == nil || errors.Is(err, book.ErrNoAccount) {
			return
		}
		time.Sleep(time.Second)
	}
}

// Invariants.

// sql runs statements on the database, beside the replicas.
func (w *world) sql(text string, into ...any) {
	db, err := sql.Open("sqlite", "file:"+w.path)
	require.NoError(w, err)
	defer db.Close()
	w.disk <- struct{}{}
	defer func() { <-w.disk }()
	if len(into) == 0 {
		_, err = db.Exec(text)
	} else {
		err = db.QueryRow(text).Scan(into...)
	}
	require.NoError(w, err)
}

// checkRows checks the rows at one instant: an account has used what its history has in its
// month, and no budget is exceeded.
func (w *world) checkRows() {
	var wrong, over int
	w.sql(`SELECT (SELECT count(*) FROM accounts a WHERE a.suspended_ns IS NULL AND a.used <> (SELECT coalesce(sum(u.points), 0) FROM usage u
	          WHERE u.account = a.id AND u.day >= unixepoch(printf('%04d-%02d-01', a.month / 12, a.month % 12 + 1)) / 86400)),
	       (SELECT count(*) FROM keys WHERE used > budget)`, &wrong, &over)
	if wrong+over > 0 {
		w.fail("%d accounts have not used what their history has, and %d keys more than their budget", wrong, over)
	}
}

// recover waits until nothing waits for the database any more: each request that was admitted
// is in the history, and what had to be given back is.
func (w *world) recover() {
	time.Sleep(2 * time.Second) // groups leave an account that was locked out for a second
	for since := time.Now(); ; time.Sleep(time.Second / 4) {
		waiting := 0
		for _, l := range w.replicas {
			s := l.Stats()
			waiting += s.Undecided + s.Waiting + s.InProgress
		}
		for _, a := range w.living() {
			if requests := w.history(a).requests; !a.rejected && requests != a.requests {
				waiting++
				w.trace("account %d: %d of %d requests are in the history", a.id, requests, a.requests)
			}
		}
		if waiting == 0 {
			return
		}
		if time.Since(since) > recovery {
			w.fail("%d accounts and requests still wait for the database a minute after its faults", waiting)
			return
		}
	}
}

// living returns the accounts that were not deleted.
func (w *world) living() (list []*account) {
	for _, a := range slices.Concat(w.accounts, w.crowd) {
		if !a.deleted {
			list = append(list, a)
		}
	}
	return list
}

// A past is what the history has of an account.
type past struct {
	points, requests int64
	months           map[time.Month]int64
}

func (w *world) history(a *account) past {
	p := past{months: map[time.Month]int64{}}
	days, err := w.replicas[0].UsageHistory(w.Context(), a.id, 0, 1_000_000)
	require.NoError(w, err)
	for _, d := range days {
		p.points, p.requests = p.points+d.Points, p.requests+d.Requests
		p.months[d.Day.Time().Month()] += d.Points
	}
	return p
}

// checkBooks compares the history with the books. Until requests of unknown outcome are sent
// again, their points may be there or not.
func (w *world) checkBooks(final bool) {
	w.checkRows()
	for _, a := range w.accounts {
		if p := w.history(a); a.deleted && p.requests != 0 {
			w.fail("account %d was deleted, and its history has %d requests", a.id, p.requests)
		}
	}
	for _, a := range w.living() {
		p, unknown := w.history(a), int64(0)
		for _, x := range a.retries {
			if x.winner == "" && len(x.attempts) > 0 && !final {
				unknown += x.points
			}
		}
		if p.points < a.sold || p.points > a.sold+unknown {
			w.fail("account %d: the history has %d points; %d were sold and %d may have been", a.id, p.points, a.sold, unknown)
		}
		for month, points := range p.months {
			if !final && a.points != book.Unlimited && points > int64(a.points) {
				w.fail("account %d: %d points were sold in %s, over every limit", a.id, points, month)
			}
		}
		if !final && a.rate != book.Unlimited {
			w.checkRate(a)
		}
	}
}

// checkRate checks that the requests that were charged arrived within the rate: at most
// capacity + rate * (T + 0.1 s) in any time T.
func (w *world) checkRate(a *account) {
	slices.SortFunc(a.arrivals, time.Time.Compare)
	interval := time.Second / time.Duration(a.rate)
	for first, from := range a.arrivals {
		for n, to := range a.arrivals[first:] {
			if time.Duration(n+1)*interval > to.Sub(from)+time.Second+time.Second/10 {
				w.fail("account %d: %d requests were charged that arrived within %s, at a rate of %d", a.id, n+1, to.Sub(from), a.rate)
				return
			}
		}
	}
}

// checkLiveness checks that every account is charged again by each replica, and that requests
// of unknown outcome, sent again, are charged once in all.
func (w *world) checkLiveness() {
	if w.faults.rejects {
		w.sql("DROP TRIGGER reject")
	}
	for _, a := range w.living() {
		if slices.Contains(w.crowd, a) {
			continue
		}
		l := w.replicas[0]
		require.NoError(w, l.ResumeAccount(w.Context(), a.id))
		a.rate = book.Unlimited
		w.setLimit(a, l, book.Unlimited)
		s := w.addKey(a, l)
		for n := range w.replicas {
			c := &call{replica: n, secret: s, points: 1, work: 1}
			if kind, err := w.request(a, c); kind != ledger.Good || err != nil {
				w.fail("account %d gets %v, %v from replica %d after the faults", a.id, kind, err, n)
			}
		}
		for _, x := range a.retries {
			if x.winner == "" && len(x.attempts) > 0 {
				_, err := w.request(a, &call{secret: s, points: x.points, once: x, work: 1})
				require.NoError(w, err)
			}
		}
	}
}
