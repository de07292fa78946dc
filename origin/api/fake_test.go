package api

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/wasm/host"
	"github.com/addrspec/addrspec/wasm/moduletest"
)

// trace records the calls to the parts around the pipeline, in order.
type trace struct {
	mu    sync.Mutex
	steps []string
}

func (t *trace) add(step string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps = append(t.steps, step)
}

func (t *trace) list() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.steps...)
}

// fakeLedger returns for each step what the test has set. The zero value accepts
// every request.
type fakeLedger struct {
	trace                *trace
	begin, claim, charge outcomeOf
	inspect              outcomeOf
	late                 ledger.Kind // of a request whose token is refused while it is in progress
	account              int64
	panicAt              string
	onClaim              func() // may be nil

	// Arguments of the last request.
	origin  string
	price   int64
	once    *ledger.Idempotency
	charged ledger.Charge
	refuse  context.CancelFunc // ends the request's context, like a late refusal
}

// An outcomeOf is the return value of a step.
type outcomeOf struct {
	ledger.Decision
	err error
}

func (f *fakeLedger) step(name string, o outcomeOf) (ledger.Decision, error) {
	f.trace.add(name)
	if f.panicAt == name {
		panic("secret@mail.example")
	}
	return o.Decision, o.err
}

func (f *fakeLedger) Ready(context.Context) error { return nil }

func (f *fakeLedger) Peek(context.Context, string, string) (int64, ledger.Decision, error) {
	return f.account, f.begin.Decision, f.begin.err
}

func (f *fakeLedger) Forwards(context.Context, string, string) bool { return false }

func (f *fakeLedger) Begin(ctx context.Context, _, origin string) (Request, ledger.Decision, error) {
	f.origin = origin
	d, err := f.step("begin", f.begin)
	if err != nil || d.Kind != ledger.Good {
		return nil, d, err
	}
	ctx, f.refuse = context.WithCancel(ctx)
	return &fakeRequest{f, ctx}, d, nil
}

func (f *fakeLedger) BeginDashboard(ctx context.Context, _ int64) (Request, ledger.Decision, error) {
	return f.Begin(ctx, "", "")
}

type fakeRequest struct {
	*fakeLedger
	ctx context.Context
}

func (r *fakeRequest) Account() int64           { return r.account }
func (r *fakeRequest) Test() bool               { return false }
func (r *fakeRequest) Context() context.Context { return r.ctx }
func (r *fakeRequest) WorkRefused()             { r.trace.add("waste") }
func (r *fakeRequest) Succeeded()               {}
func (r *fakeRequest) End()                     { r.trace.add("end") }

func (r *fakeRequest) Late() (ledger.Decision, bool) {
	return ledger.Decision{Kind: r.late, RetryAfter: time.Second}, r.late != ledger.Good
}

func (r *fakeRequest) Policy(name string) (*ledger.SharedPolicy, error) {
	if name == "" {
		return nil, nil
	}
	return nil, book.ErrNoPolicy
}

func (r *fakeRequest) Inspect() (ledger.Decision, error) {
	return r.step("inspect", r.fakeLedger.inspect)
}

func (r *fakeRequest) Claim(price int64, once *ledger.Idempotency) (ledger.Decision, error) {
	if r.price, r.once = price, once; r.onClaim != nil {
		r.onClaim()
	}
	return r.step("claim", r.fakeLedger.claim)
}

func (r *fakeRequest) Charge(c ledger.Charge) (ledger.Decision, error) {
	r.charged = c
	return r.step("charge", r.fakeLedger.charge)
}

// fakeResolver reports MX records for every domain, from its cache except for
// those of ask.
type fakeResolver struct {
	trace   *trace
	ask     map[string]func(context.Context) (bool, error) // not in the cache
	account atomic.Int64                                   // of the last lookup
}

func (f *fakeResolver) Peek(domain string) (mx.Result, bool, error) {
	_, ask := f.ask[domain]
	return mx.Result{MX: !ask}, !ask, nil
}

func (f *fakeResolver) PeekAddress(domain string) (mx.Result, bool, error) { return f.Peek(domain) }

func (f *fakeResolver) LookupAddress(ctx context.Context, account int64, domain string) (mx.Result, error) {
	return f.Lookup(ctx, account, domain)
}

func (f *fakeResolver) Lookup(ctx context.Context, account int64, domain string) (mx.Result, error) {
	f.account.Store(account)
	f.trace.add("ask " + domain)
	if ask := f.ask[domain]; ask != nil {
		found, err := ask(ctx)
		return mx.Result{MX: found}, err
	}
	return mx.Result{MX: true}, nil
}

// silent returns when ctx ends.
func silent(ctx context.Context) (bool, error) {
	<-ctx.Done()
	return false, ctx.Err()
}

// engine is the module, started once for all tests of this package.
var engine = sync.OnceValues(func() (*host.Engine, error) {
	return host.New(context.Background(), moduleBytes, host.Options{CacheDir: moduletest.CacheDir()})
})

var (
	moduleBytes []byte
	loading     sync.Mutex // of moduleBytes
)

func testEngine(t testing.TB) *host.Engine {
	loading.Lock()
	defer loading.Unlock()
	moduleBytes = moduletest.Bytes(t)
	e, err := engine()
	require.NoError(t, err)
	return e
}

// fakes is a Server with a fake ledger and resolver.
type fakes struct {
	*Server
	trace    *trace
	ledger   *fakeLedger
	resolver *fakeResolver
	log      *trace
}

func newFakes(t testing.TB) *fakes {
	f := &fakes{trace: new(trace), log: new(trace)}
	f.ledger = &fakeLedger{trace: f.trace, account: 7}
	f.resolver = &fakeResolver{trace: f.trace, ask: map[string]func(context.Context) (bool, error){}}
	f.Server = New(Config{
		Engine: testEngine(t), Ledger: f.ledger, Resolver: f.resolver,
		Log:     slog.New(slog.NewTextHandler(logTo{f.log}, nil)),
		Metrics: NewMetrics(prometheus.NewRegistry()), BatchTimeout: hung, EdgeSecrets: []string{"secret", "another"},
	})
	t.Cleanup(f.Stop)
	return f
}

type logTo struct{ *trace }

func (l logTo) Write(p []byte) (int, error) { l.add(string(p)); return len(p), nil }

// A tracedBody records in the trace that it was read to its end.
type tracedBody struct {
	io.Reader
	trace *trace
}

func (b *tracedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		b.trace.add("body")
	}
	return n, err
}

func (b *tracedBody) Close() error { return nil }

// send serves one request.
func (f *fakes) send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

// header returns a header of a.
func header(a wire.Response, name string) string {
	w := httptest.NewRecorder()
	a.Send(w, "id")
	return w.Header().Get(name)
}
