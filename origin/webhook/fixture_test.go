package webhook

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	_ "github.com/addrspec/addrspec/origin/ledger/store/postgres"
	_ "github.com/addrspec/addrspec/origin/ledger/store/sqlite"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/rig/pgtest"
	"github.com/addrspec/addrspec/origin/rig/storetest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	pgtest.RemoveShared()
	os.Exit(code)
}

// A fixture is a ledger, a Sender on it and a receiver on this machine.
type fixture struct {
	*testing.T
	*Sender
	ctx      context.Context
	url      string // of the database
	ledger   *ledger.Ledger
	log      *origintest.Log
	receiver *receiver
	options  []ledger.Option
	work     *storetest.Counter // of the ledger
}

func newFixture(t *testing.T, url string, options ...ledger.Option) *fixture {
	f := &fixture{T: t, ctx: t.Context(), url: url, log: &origintest.Log{}, options: options}
	f.receiver = newReceiver(t)
	f.ledger = f.open()
	f.Sender = New(f.ledger.Store(), f.fast())
	return f
}

func withCustomer(t *testing.T, url string, options ...ledger.Option) (*fixture, *customer) {
	f := newFixture(t, url, options...)
	return f, f.account("customer", 10)
}

func each(t *testing.T, test func(*testing.T, *fixture, *customer), options ...ledger.Option) {
	pgtest.EachDatabase(t, func(t *testing.T, url string) {
		f, c := withCustomer(t, url, options...)
		test(t, f, c)
	})
}

// A clock is the database's in a test that moves it, in nanoseconds.
type clock struct{ atomic.Int64 }

func newClock(at time.Time) *clock {
	c := new(clock)
	c.Store(at.UnixNano())
	return c
}

func (c *clock) option() ledger.Option {
	return ledger.WithClock(func() time.Time { return time.Unix(0, c.Load()) })
}

func (f *fixture) open() *ledger.Ledger {
	f.work = new(storetest.Counter)
	l := must(ledger.Open(f.ctx, f.url, append([]ledger.Option{ledger.WithStore(f.work.Wrap)}, f.options...)...))(f.T)
	f.Cleanup(func() { require.NoError(f, l.Close()) })
	return l
}

// fast returns options that reach the receiver and do in milliseconds what takes
// seconds and hours.
func (f *fixture) fast() Options {
	return Options{
		Log:   slog.New(slog.NewTextHandler(f.log, nil)),
		Every: 30 * time.Millisecond, Timeout: patience, Grace: patience,
		Retries: []time.Duration{10 * time.Millisecond, 20 * time.Millisecond},
		Allow:   loopback, Local: &Local{Roots: f.receiver.roots()},
	}
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// replica returns a fixture with a ledger and a Sender of its own on the same
// database.
func (f *fixture) replica(change func(*Options)) *fixture {
	other := *f
	other.ledger = other.open()
	o := f.fast()
	if change != nil {
		change(&o)
	}
	other.Sender = New(other.ledger.Store(), o)
	return &other
}

// run runs the Sender until the test ends or stop is called.
func (f *fixture) run() (stop func()) {
	ctx, cancel := context.WithCancel(f.ctx)
	ended := make(chan struct{})
	go func() { f.Sender.Run(ctx); close(ended) }()
	stop = func() { cancel(); <-ended }
	f.Cleanup(stop)
	return stop
}

// awaitScans waits until the Sender has scanned and looked for due deliveries
// several times.
func (f *fixture) awaitScans() {
	f.Helper()
	f.work.Take()
	scans := 0
	require.Eventually(f, func() bool {
		scans += f.work.Take().Statements["list_thresholds"]
		return scans >= 4
	}, patience, time.Millisecond)
}

// account creates an account with a limit, a webhook at the receiver and a key.
func (f *fixture) account(name string, limit book.Limit) *customer {
	f.Helper()
	unlimited := book.Limit(book.Unlimited)
	a := must(f.ledger.CreateAccount(f.ctx, name+"@owner.example", book.Terms{Rate: &unlimited, Points: &limit}))(f.T)
	key, _, err := f.ledger.CreateKey(f.ctx, a.ID, "test", book.KeyTerms{})
	require.NoError(f, err)
	secret := must(f.Set(f.ctx, a.ID, f.receiver.URL+"/"+name+"?token=hidden"))(f.T)
	return &customer{fixture: f, id: a.ID, key: key, secret: secret}
}

// A customer is an account of a fixture.
type customer struct {
	*fixture
	id          int64
	key, secret string
}

// use charges points, as a request does. It tries again if the machine is too busy to commit
// in time: then nothing is charged, or it is given back.
func (c *customer) use(points int64) {
	c.Helper()
	charge := func() error {
		r, d, err := c.ledger.Begin(c.ctx, c.key, "")
		if err != nil {
			return err
		}
		require.Equal(c, ledger.Good, d.Kind)
		defer r.End()
		d, err = r.Claim(points, nil)
		if err != nil {
			return err
		}
		require.Equal(c, ledger.Good, d.Kind)
		_, err = r.Charge(ledger.Charge{Points: points, Found: book.Found{Valid: points}})
		return err
	}
	err := charge()
	for end := time.Now().Add(patience); isStall(err) && time.Now().Before(end); {
		err = charge()
	}
	require.NoError(c, err)
}

func isStall(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, ledger.ErrUndecided)
}

// list returns the customer's deliveries, the newest first.
func (c *customer) list() []Delivery {
	c.Helper()
	list := must(c.Deliveries(c.ctx, c.id, 100))(c.T)
	return list
}

// await waits until all deliveries of the customer are done, and returns them.
func (c *customer) await(n int) []Delivery {
	c.Helper()
	require.Eventually(c, func() bool {
		list := c.list()
		for _, d := range list {
			if !d.Done {
				return false
			}
		}
		return len(list) == n
	}, patience, 5*time.Millisecond)
	return c.list()
}

// patience is the longest wait for what takes milliseconds on an idle machine.
const patience = 2 * time.Minute

// A receiver is an HTTPS server that keeps the messages it gets.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []request

	// respond writes the response to a message; nil is 204.
	respond http.HandlerFunc
}

// A request is a message as it arrived.
type request struct {
	path   string
	header http.Header
	body   []byte
}

func newReceiver(t *testing.T) *receiver {
	r := new(receiver)
	r.Server = httptest.NewUnstartedServer(r)
	r.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(r.Certificate())
	return pool
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	r.got = append(r.got, request{q.URL.Path, q.Header.Clone(), body})
	r.mu.Unlock()
	if r.respond == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	r.respond(w, q)
}

func (r *receiver) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// awaitRequests waits for n requests.
func (f *fixture) awaitRequests(n int) []request {
	f.Helper()
	require.Eventually(f, func() bool { return len(f.receiver.requests()) >= n }, patience, time.Millisecond)
	return f.receiver.requests()
}

func names(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("account-%d", i))
	}
	return list
}

// must returns v, or ends the test.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

func errOf[T any](_ T, err error) error { return err }
