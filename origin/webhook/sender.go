package webhook

import (
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
	Grace   time.Duration   // for attempts under way when Run stops; 0 is 5 s
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

// maxAttempts bounds the attempts that one replica makes at the same time. An
// account has one at a time, on all replicas together.
const maxAttempts = 8

// A Sender is one replica's webhooks. It is safe for concurrent use.
type Sender struct {
	Options
	store   store.Store
	writing sync.Mutex // locked during a transaction
	guard   *ssrf.Guardian
	client  *http.Client

	slots chan struct{}  // semaphore of attempts
	freed chan struct{}  // receives after an attempt
	under sync.WaitGroup // attempts that Run has begun

	sent, failed, abandoned atomic.Int64
}

// New returns a Sender on the ledger's database. It sends nothing by itself until
// Run is called.
func New(s store.Store, o Options) *Sender {
	w := &Sender{Options: o.withDefaults(), store: s, slots: make(chan struct{}, maxAttempts), freed: make(chan struct{}, 1)}
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
