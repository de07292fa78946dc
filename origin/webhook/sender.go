// Package webhook sends an account one message when its points used this month
// reach 80 % of its limit, and one at 100 %, to a URL that the account gives.
// Messages follow Standard Webhooks 1.0.0 (standardwebhooks.com).
//
// Every replica runs a [Sender] on the ledger's database. Each scans for accounts
// over a threshold and stores a delivery, whose primary key is account, month and
// threshold, so there is one message for each. To send it, a replica claims it
// with a lease: no other replica sends to this account before the attempt has
// ended or the lease has. A replica that dies leaves a lease that ends, and
// another repeats the attempt. Delivery is therefore at least once: a receiver may
// get a message again, with the same webhook-id.
//
//	sender.go    a replica's sender, its loop and its transactions
//	delivery.go  accounts over a threshold get a delivery; its body and signatures
//	attempt.go   one replica at a time sends to an account: claim, attempt, result
//	target.go    which URLs are accepted; the HTTP client: public addresses only
//	owner.go     what an account's owner can do
//
// The package does not notice a threshold that was crossed less than a scan's
// interval before the month ended: the points have been refilled by then. An
// account gets a threshold's message once a month, even if its limit is raised
// later.
package webhook

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"code.dny.dev/ssrf"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Options change the defaults of [New]. The zero value is ready to use.
type Options struct {
	Log     *slog.Logger    // lines name accounts by ID and contain no URL; nil discards them
	Every   time.Duration   // between scans for accounts over a threshold; 0 is 30 s
	Timeout time.Duration   // of an attempt, from its claim to its response; 0 is 10 s
	Lease   time.Duration   // added to Timeout before another replica repeats an attempt; 0 is 20 s
	Retries []time.Duration // the waits between attempts; nil is 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h
	Grace   time.Duration   // for attempts in progress when Run stops; 0 is 5 s
	Sealer  *store.Sealer   // seals the signing secrets; nil stores them as they are
	Local   *Local          // tests only
}

// Local lets a test send to servers of its own.
type Local struct {
	Networks []netip.Prefix // allowed although they are not public
	Roots    *x509.CertPool // in place of the system's
	Resolver *net.Resolver  // in place of the system's
}

const (
	defaultEvery   = 30 * time.Second
	defaultTimeout = 10 * time.Second
	defaultLease   = 20 * time.Second
	defaultGrace   = 5 * time.Second
)

// Bounds of the attempts that one replica makes at the same time. An account has
// one at a time, on all replicas together.
const (
	maxAttempts = 8
	maxTests    = 2 // of these, for tests of owners
)

// A Sender is one replica's webhooks. It is safe for concurrent use.
type Sender struct {
	Options
	store   store.Store
	writing sync.Mutex // locked during a transaction
	guard   *ssrf.Guardian
	client  *http.Client

	slots slots
	freed chan struct{}  // receives after an attempt
	under sync.WaitGroup // attempts that Run has begun

	sent, failed, abandoned atomic.Int64
}

// New returns a Sender on the ledger's database. It sends nothing by itself until
// Run is called.
func New(s store.Store, o Options) *Sender {
	w := &Sender{Options: o.withDefaults(), store: s, slots: slots{changed: make(chan struct{})}, freed: make(chan struct{}, 1)}
	w.guard = newGuard(o.Local)
	w.client = newClient(w.guard, o.Local, w.Timeout)
	return w
}

func (o Options) withDefaults() Options {
	setDefault(&o.Every, defaultEvery)
	setDefault(&o.Timeout, defaultTimeout)
	setDefault(&o.Lease, defaultLease)
	setDefault(&o.Grace, defaultGrace)
	if o.Retries == nil {
		o.Retries = defaultRetries
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func setDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// Stats count what a Sender has done, tests of owners included.
type Stats struct {
	Sent      int64 // messages that a receiver accepted
	Failed    int64 // attempts that failed
	Abandoned int64 // messages that no attempt delivered
}

// Stats returns the counts so far.
func (s *Sender) Stats() Stats {
	return Stats{Sent: s.sent.Load(), Failed: s.failed.Load(), Abandoned: s.abandoned.Load()}
}

// duePerScan is how often, in the time between two scans, Run looks for deliveries
// that are due, so that the first retry is not much later than planned.
const duePerScan = 6

// maxDue bounds the rows of one look.
const maxDue = 256

// Run scans and sends until ctx ends. Then it begins nothing more, lets attempts
// in progress finish within the grace, cancels the rest, and returns.
func (s *Sender) Run(ctx context.Context) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	scanAt, cleanAt := time.Now(), time.Now()
	for ctx.Err() == nil {
		if now := time.Now(); !now.Before(scanAt) {
			s.warn(ctx, s.scan(ctx))
			scanAt = now.Add(s.Every)
		}
		if now := time.Now(); !now.Before(cleanAt) {
			s.warn(ctx, s.clean(ctx))
			cleanAt = now.Add(cleanEvery)
		}
		s.warn(ctx, s.sendDue(ctx, work))
		s.pause(ctx)
	}
	defer time.AfterFunc(s.Grace, cancel).Stop()
	s.under.Wait()
}

// pause waits until there may be something to send.
func (s *Sender) pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.freed:
	case <-time.After(s.Every / duePerScan):
	}
}

// warn logs an error of the database, unless it is due to the stop.
func (s *Sender) warn(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("webhooks wait for the database", "error", err.Error())
	}
}

// sendDue begins attempts for the accounts with a delivery that is due, as far as
// there are free slots.
func (s *Sender) sendDue(ctx, work context.Context) error {
	if s.slots.full() {
		return nil
	}
	accounts, err := s.due(ctx)
	if err != nil {
		return err
	}
	for _, account := range accounts {
		if !s.slots.take() {
			return nil
		}
		s.under.Go(func() { s.attempt(work, account) })
	}
	s.slots.allBegun()
	return nil
}

// attempt makes one attempt for an account, if it can be claimed, and frees the
// slot.
func (s *Sender) attempt(work context.Context, account int64) {
	tried, err := s.try(work, account)
	s.slots.release()
	s.warn(work, err)
	if tried {
		s.wake()
	}
}

// wake ends a pause of Run.
func (s *Sender) wake() {
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// slots are the attempts in progress. Messages come first: a test begins when no
// message waits for a slot.
type slots struct {
	mu      sync.Mutex
	taken   int
	tests   int           // of these
	behind  bool          // messages may wait for a slot
	changed chan struct{} // closed when a test may begin
}

// full reports whether no message can be sent now.
func (s *slots) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behind = s.behind || s.taken == maxAttempts
	return s.taken == maxAttempts
}

// take takes a slot for a message, if one is free.
func (s *slots) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behind = s.taken == maxAttempts
	if s.behind {
		return false
	}
	s.taken++
	return true
}

// allBegun lets tests begin, since no message waits.
func (s *slots) allBegun() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behind = false
	s.letTestsTry()
}

func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	s.letTestsTry()
}

// letTestsTry wakes the tests that wait. The caller must hold mu.
func (s *slots) letTestsTry() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// takeForTest waits for a slot for a test until ctx ends, and reports whether it
// has one.
func (s *slots) takeForTest(ctx context.Context) bool {
	for {
		taken, changed := s.tryForTest()
		if taken {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

func (s *slots) tryForTest() (taken bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken = s.taken < maxAttempts && s.tests < maxTests && !s.behind
	if taken {
		s.taken++
		s.tests++
	}
	return taken, s.changed
}

func (s *slots) releaseTest() {
	s.mu.Lock()
	s.tests--
	s.mu.Unlock()
	s.release()
}

func (s *Sender) try(work context.Context, account int64) (tried bool, err error) {
	a, err := s.claim(work, account)
	if a == nil || err != nil {
		return false, err
	}
	o := outcome{words: "the process that made the last attempt ended"}
	if !a.spent {
		o = s.send(work, a)
	}
	_, err = s.finish(work, a, o)
	return true, err
}

// due returns the accounts with a delivery that is due, each once.
func (s *Sender) due(ctx context.Context) (accounts []int64, err error) {
	now, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	seen := map[int64]bool{}
	err = s.query(ctx, "list_due", []any{now.UnixNano(), maxDue, latestNext(now.UnixNano())}, func(r store.Row) error {
		var account int64
		err := r.Scan(&account)
		if !seen[account] {
			seen[account] = true
			accounts = append(accounts, account)
		}
		return err
	})
	return accounts, err
}

// transact runs a transaction, one at a time in this process: on PostgreSQL
// several would take connections that requests need. An error of decide is
// returned unwrapped.
func (s *Sender) transact(ctx context.Context, reads func() []store.Statement, decide func(time.Time) ([]store.Statement, error)) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	var refusal error
	err := s.store.Transact(ctx, store.Transaction{Reads: reads, Decide: func(now time.Time) (list []store.Statement, err error) {
		list, refusal = decide(now)
		return list, refusal
	}})
	if refusal != nil {
		return refusal
	}
	return unavailable(err)
}

// query runs a read-only statement.
func (s *Sender) query(ctx context.Context, name string, args []any, scan func(store.Row) error) error {
	return unavailable(s.store.Query(ctx, store.Statement{Name: name, Args: args, Scan: scan}))
}

// now returns the time of the database's clock, which replicas share.
func (s *Sender) now(ctx context.Context) (time.Time, error) {
	now, err := s.store.Now(ctx)
	return now, unavailable(err)
}

func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return store.Unavailable(err)
}
