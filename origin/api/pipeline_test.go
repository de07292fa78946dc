package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/api/wire"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/wasm/host"
)

var goodKey = book.NewSecret()

// ask returns a request with a valid key.
func (f *fakes) ask(method, target, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, target, &tracedBody{strings.NewReader(body), f.trace})
	r.ContentLength = int64(len(body))
	r.Header.Set("X-API-Key", goodKey)
	r.Header.Set("Content-Type", wire.JSON)
	for n := 0; n < len(headers); n += 2 {
		r.Header.Set(headers[n], headers[n+1])
	}
	return r
}

const twoAddresses = `{"emails":["a@mail.example","b@other.example","a@mail.example"]}`

func decided(v ledger.Kind) outcomeOf {
	return outcomeOf{Decision: ledger.Decision{Kind: v, RetryAfter: time.Second, Usage: &ledger.Usage{Current: 3, Limit: 10}}}
}

// TestPrecedence starts with a batch that is wrong in every way and corrects one
// error at a time. Each time the first step that refuses the batch determines the
// response, and no later step runs.
func TestPrecedence(t *testing.T) {
	f := newFakes(t)
	r := f.ask(http.MethodGet, "/v1/nothing", strings.Repeat(" ", batchBody.Limit)+"{]", "X-API-Key", "", "Content-Type", "text/plain")
	f.ledger.begin = outcomeOf{err: store.ErrUnavailable}
	f.ledger.claim, f.ledger.charge = decided(ledger.IdempotencyMismatch), outcomeOf{err: ledger.ErrUndecided}
	f.resolver.ask["mail.example"] = func(context.Context) (bool, error) { panic("x") }
	body := func(text string) func() {
		return func() { r.Body, r.ContentLength = &tracedBody{strings.NewReader(text), f.trace}, int64(len(text)) }
	}
	noKey := func() { r.Header.Del("X-API-Key") }
	for n, c := range []struct {
		fix    func()
		status int
		want   string
		steps  string
	}{
		{noKey, 404, `{"status":404`, ""},
		{func() { r.URL.Path = "/v1/emails" }, 405, `{"status":405`, ""},
		{func() { r.Method = http.MethodPost }, 401, `{"status":401`, ""},
		{func() { r.Header.Set("X-API-Key", goodKey[:41]) }, 401, `{"status":401`, ""},
		{func() { r.Header.Set("X-API-Key", goodKey) }, 503, `{"status":503`, "begin"},
		{func() { f.ledger.begin = outcomeOf{Decision: ledger.Decision{Kind: ledger.UnknownKey}} }, 401, `{"status":401`, "begin"},
		{func() { f.ledger.begin = outcomeOf{Decision: ledger.Decision{Kind: ledger.WrongOrigin}} }, 401, `pages of certain origins`, "begin"},
		{func() { f.ledger.begin = decided(ledger.RateLimited) }, 429, `{"status":429`, "begin"},
		{func() { f.ledger.begin = decided(ledger.Busy) }, 429, `{"status":429`, "begin"},
		{func() { f.ledger.begin = decided(ledger.UnpaidWork) }, 429, `{"status":429`, "begin"},
		{func() { f.ledger.begin = decided(ledger.Good) }, 415, `{"success":false,"error":{"code":"UNSUPPORTED_MEDIA_TYPE"`, "begin end"},
		{func() { r.Header.Set("Content-Type", wire.JSON) }, 413, `{"success":false,"error":{"code":"BODY_TOO_LARGE"`, "begin end"},
		{body("{]"), 400, `"code":"INVALID_REQUEST"`, "begin body end"},
		{body("{}"), 400, `"code":"EMPTY_BATCH"`, "begin body end"},
		{body(twoAddresses), 422, `"code":"IDEMPOTENCY_MISMATCH"`, "begin body claim end"},
		{func() { f.ledger.claim = decided(ledger.IdempotencyConflict) }, 409, `"code":"IDEMPOTENCY_CONFLICT"`, "begin body claim end"},
		{func() { f.ledger.claim = decided(ledger.RecordsFull) }, 429, `{"status":429`, "begin body claim end"},
		{func() { f.ledger.claim = decided(ledger.Insufficient) }, 402, `"required":2`, "begin body claim end"},
		{func() { f.ledger.claim = decided(ledger.Claimed) }, 402, `"required":2`, "begin body claim end"},
		{func() { f.ledger.claim = decided(ledger.Good) }, 500, `"code":"INTERNAL_ERROR"`, "begin body claim ask mail.example end"},
		{func() { delete(f.resolver.ask, "mail.example") }, 503, `The charge is undecided`, "begin body claim charge end"},
		{func() { f.ledger.charge = outcomeOf{err: ledger.ErrRecord} }, 500, `"code":"INTERNAL_ERROR"`, "begin body claim charge end"},
		{func() { f.ledger.charge = outcomeOf{Decision: ledger.Decision{Kind: ledger.UnknownKey}} }, 401, `{"status":401`, "begin body claim charge end"},
		{func() { f.ledger.charge = decided(ledger.RateLimited) }, 429, `{"status":429`, "begin body claim charge end"},
		{func() { f.ledger.charge = decided(ledger.IdempotencyMismatch) }, 422, `"success":false`, "begin body claim charge end"},
		{func() { f.ledger.charge = decided(ledger.Insufficient) }, 402, `"required":2`, "begin body claim charge end"},
		{func() { f.ledger.charge = decided(ledger.Good) }, 200, `{"success":true,"partial":false,"total":2,`, "begin body claim charge end"},
	} {
		f.trace.steps = nil
		if c.fix(); strings.Contains(c.steps, "body") && r.Body.(*tracedBody).Reader.(*strings.Reader).Len() == 0 {
			r.Body.(*tracedBody).Reader.(*strings.Reader).Seek(0, 0)
		}
		resp := f.send(r)
		require.Equal(t, c.status, resp.Code, "%d: %s", n, resp.Body)
		require.Contains(t, resp.Body.String(), c.want, n)
		require.Equal(t, c.steps, strings.Join(f.trace.list(), " "), n)
		_, authenticated := resp.Header()["X-Usage-Current"]
		require.Equal(t, strings.Contains(c.steps, "begin") && c.status != 401 && c.steps+fmt.Sprint(c.status) != "begin503", authenticated, "usage of %d: %s", n, resp.Body)
	}
	require.NotContains(t, strings.Join(f.log.list(), ""), "mail.example")
}

// After Begin, every request is ended once, even if a step panics.
func TestRequestEndsOnce(t *testing.T) {
	panics := func(context.Context) (bool, error) { panic("secret@mail.example") }
	edge := `{"operation":"batch","points":2,"domains":[{"name":"mail.example","addresses":1},{"name":"other.example","addresses":1}]}`
	for _, at := range []string{"claim", "charge", "ask"} {
		for operation, ask := range map[string]func(*fakes) *http.Request{
			"single": func(f *fakes) *http.Request { return f.ask(http.MethodGet, "/v1/email/a@mail.example", "") },
			"batch":  func(f *fakes) *http.Request { return f.ask(http.MethodPost, "/v1/emails", twoAddresses) },
			"edge": func(f *fakes) *http.Request {
				return f.ask(http.MethodPost, edgePath, edge, headerEdgeSecret, "secret")
			},
		} {
			t.Run(at+"/"+operation, func(t *testing.T) {
				f := newFakes(t)
				f.ledger.begin, f.ledger.claim = decided(ledger.Good), decided(ledger.Good)
				f.ledger.panicAt = at
				if at == "ask" {
					f.resolver.ask["mail.example"] = panics
				}
				resp := f.send(ask(f))
				require.Equal(t, 500, resp.Code)
				require.Contains(t, resp.Body.String(), `"code":"INTERNAL_ERROR"`)
				require.NotEmpty(t, resp.Header().Get("X-Usage-Current"))
				steps := f.trace.list()
				require.Equal(t, "end", steps[len(steps)-1])
				require.Equal(t, 1, countSteps(steps, "end"))
				require.Equal(t, at == "charge", slices.Contains(steps, "charge"))
				require.NotContains(t, strings.Join(f.log.list(), ""), "secret@", "the panic's value")
			})
		}
	}
}

func countSteps(steps []string, step string) (n int) {
	for _, s := range steps {
		if s == step {
			n++
		}
	}
	return n
}

func TestBatchChargeAndReplay(t *testing.T) {
	f := newFakes(t)
	resp := f.send(f.ask(http.MethodPost, "/v1/emails", `{"emails":["postmaster@mail.example","bad","c@[192.0.2.1]"]}`, headerIdempotency, `"one"`))
	require.Equal(t, 200, resp.Code)
	require.Empty(t, resp.Header().Get(wire.HeaderReplayed))
	require.EqualValues(t, 3, f.ledger.price)
	require.EqualValues(t, 3, f.ledger.charged.Points)
	require.Equal(t, book.Found{Valid: 2, Invalid: 1, Role: 1}, f.ledger.charged.Found)
	require.Equal(t, testRecord(t, "one", 7, `{"emails":["postmaster@mail.example","bad","c@[192.0.2.1]"]}`).Idempotency, *f.ledger.once)

	// The stored response is replayed if Claim finds it, and if another replica has
	// committed first.
	f.ledger.claim = decided(ledger.Replayed)
	f.ledger.claim.Response = f.ledger.charged.Response
	again := f.send(f.ask(http.MethodPost, "/v1/emails", `{"emails":["postmaster@mail.example","bad","c@[192.0.2.1]"]}`, headerIdempotency, "one"))
	require.Equal(t, 200, again.Code)
	require.Equal(t, "true", again.Header().Get(wire.HeaderReplayed))
	require.Equal(t, "3", again.Header().Get("X-Usage-Current"))
	require.Equal(t, resp.Body.String(), again.Body.String())

	f.ledger.charge, f.ledger.claim = f.ledger.claim, outcomeOf{}
	lost := f.send(f.ask(http.MethodPost, "/v1/emails", `{"emails":["postmaster@mail.example","bad","c@[192.0.2.1]"]}`, headerIdempotency, "one"))
	require.Equal(t, "true", lost.Header().Get(wire.HeaderReplayed))
	require.Equal(t, resp.Body.String(), lost.Body.String())

	f.ledger.charge.Response = []byte("not sealed")
	require.Equal(t, 500, f.send(f.ask(http.MethodPost, "/v1/emails", twoAddresses, headerIdempotency, "one")).Code)
}

// A partial batch is charged for what is finished, and its response is not stored.
func TestPartialBatchIsNotRecorded(t *testing.T) {
	testEngine(t) // its channels are those of no bubble
	for name, end := range map[string]func(*fakes){
		"deadline": func(f *fakes) { f.BatchTimeout = 20 * time.Millisecond },
		"stop":     func(f *fakes) { time.AfterFunc(20*time.Millisecond, f.Stop) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakes(t)
				f.resolver.ask["mail.example"] = silent
				end(f)
				resp := f.send(f.ask(http.MethodPost, "/v1/emails", twoAddresses, headerIdempotency, "one"))
				require.Contains(t, resp.Body.String(), `{"success":true,"partial":true,"total":1,"valid_count":1,`)
				require.EqualValues(t, 2, f.ledger.price)
				require.Equal(t, ledger.Charge{Points: 1, Found: book.Found{Valid: 1}}, f.ledger.charged)
			})
		})
	}
}

// What was looked up in time is reported, although the module, which classifies exchanges,
// is busy when the time has passed.
func TestLookupsOfAPartialBatchWaitForTheModule(t *testing.T) {
	f := newFakes(t)
	var all sync.WaitGroup
	f.resolver.ask["mail.example"] = func(ctx context.Context) (bool, error) {
		free := make(chan struct{})
		occupyModule(&all, f.Engine.View(), free)
		before := f.Engine.Stats().Waits
		all.Go(func() {
			defer close(free)
			for f.Engine.Stats().Waits == before && t.Context().Err() == nil {
				runtime.Gosched()
			}
		})
		f.Stop()
		return silent(ctx)
	}
	resp := f.send(f.ask(http.MethodPost, "/v1/emails", `{"emails":["a@other.example","b@mail.example"],"details":true}`))
	all.Wait()
	require.Contains(t, resp.Body.String(), `{"success":true,"partial":true,"total":1,"valid_count":1,`)
}

// occupyModule returns when all instances are in use, until free is closed.
func occupyModule(all *sync.WaitGroup, view *host.View, free chan struct{}) {
	var used sync.WaitGroup
	used.Add(view.Size())
	for range view.Size() {
		all.Go(func() {
			_ = view.CheckMany(context.Background(), []string{"a@b.example"}, 0, func(int, host.Facts) { used.Done(); <-free })
		})
	}
	used.Wait()
}

func TestNothingFinishedIsFree(t *testing.T) {
	f := newFakes(t)
	f.BatchTimeout = 10 * time.Millisecond
	f.resolver.ask["mail.example"] = silent
	edge := `{"operation":"batch","points":1,"tally":{},"domains":[{"name":"mail.example","addresses":1,"tally":{"valid":1}}]}`
	for _, r := range []*http.Request{
		f.ask(http.MethodPost, "/v1/emails", `{"emails":["a@mail.example"]}`),
		f.ask(http.MethodPost, edgePath, edge, headerEdgeSecret, "secret"),
	} {
		resp := f.send(r)
		require.Equal(t, 503, resp.Code)
		require.Contains(t, resp.Body.String(), "nothing was charged")
		require.NotContains(t, f.trace.list(), "charge")
	}
}

// A request whose token is refused late, or whose caller has disconnected, stops
// its work and costs nothing.
func TestInterruptedWorkIsFree(t *testing.T) {
	for name, c := range map[string]struct {
		interrupt func(f *fakes, leave func())
		status    int
	}{
		"late": {func(f *fakes, _ func()) { f.ledger.late = ledger.RateLimited; f.ledger.refuse() }, 429},
		"left": {func(_ *fakes, leave func()) { leave() }, 503},
	} {
		for operation, ask := range map[string]func(*fakes) *http.Request{
			"single": func(f *fakes) *http.Request { return f.ask(http.MethodGet, "/v1/email/a@mail.example", "") },
			"batch":  func(f *fakes) *http.Request { return f.ask(http.MethodPost, "/v1/emails", twoAddresses) },
		} {
			t.Run(name+"/"+operation, func(t *testing.T) {
				f := newFakes(t)
				ctx, leave := context.WithCancel(context.Background())
				defer leave()
				f.resolver.ask["mail.example"] = func(ctx context.Context) (bool, error) {
					c.interrupt(f, leave)
					return silent(ctx)
				}
				resp := f.send(ask(f).WithContext(ctx))
				require.Equal(t, c.status, resp.Code, resp.Body)
				require.Equal(t, "end", f.trace.list()[len(f.trace.list())-1])
				require.NotContains(t, f.trace.list(), "charge")
			})
		}
	}
}

// A late refusal takes precedence over a problem with the input.
func TestLateRefusalBeforeBadInput(t *testing.T) {
	f := newFakes(t)
	f.ledger.late = ledger.RateLimited
	require.Equal(t, 429, f.send(f.ask(http.MethodPost, "/v1/emails", "{]")).Code)
	require.Equal(t, 429, f.send(f.ask(http.MethodGet, "/v1/email/bad", "")).Code)
}

func TestSingleCost(t *testing.T) {
	f := newFakes(t)
	f.resolver.ask["broken.example"] = func(context.Context) (bool, error) { return false, errors.New("broken") }
	for target, status := range map[string]int{"/v1/email/a@mail.example": 200, "/v1/email/a@[192.0.2.1]": 200, "/v1/email/a@broken.example": 503, "/v1/email/bad": 400, "/v1/email/": 400} {
		f.trace.steps, f.ledger.charged = nil, ledger.Charge{}
		resp := f.send(f.ask(http.MethodGet, target, ""))
		require.Equal(t, status, resp.Code, target)
		require.Equal(t, status == 200, slices.Contains(f.trace.list(), "charge"), target)
		if status == 200 {
			require.Equal(t, ledger.Charge{Points: 1, Found: book.Found{Valid: 1}}, f.ledger.charged)
		} else {
			require.Contains(t, resp.Body.String(), fmt.Sprintf(`{"status":%d,`, status), "shape A")
		}
	}
}

// Every domain is looked up once, and not at all if it is cached.
func TestDomainsAreLookedUpOnce(t *testing.T) {
	f := newFakes(t)
	f.resolver.ask["mail.example"] = func(context.Context) (bool, error) { return true, nil }
	f.send(f.ask(http.MethodPost, "/v1/emails", `{"emails":["a@mail.example","b@mail.example","A@MAIL.example","c@other.example"]}`))
	require.Equal(t, 1, countSteps(f.trace.list(), "ask mail.example"))
	require.Equal(t, 0, countSteps(f.trace.list(), "ask other.example"))
	require.EqualValues(t, 4, f.ledger.charged.Points)
}

func TestEdgePrecedenceAndShapes(t *testing.T) {
	single := `{"operation":"single","points":1,"domains":[{"name":"mail.example","addresses":1,"tally":{"valid":1,"public":1}}]}`
	batch := `{"operation":"batch","points":2,"tally":{"invalid":1},"domains":[{"name":"mail.example","addresses":1,"tally":{"valid":1}}]}`
	free := `{"operation":"batch","points":0,"domains":[]}`
	f := newFakes(t)
	f.ledger.begin = decided(ledger.Good)
	ask := func(body, secret string) *httptest.ResponseRecorder {
		f.trace.steps = nil
		return f.send(f.ask(http.MethodPost, edgePath, body, headerEdgeSecret, secret))
	}
	resp := ask("{", "wrong")
	require.Equal(t, 403, resp.Code)
	require.Empty(t, f.trace.list())
	for _, wrong := range []string{"", "secre", "secret,another", "another2"} {
		require.Equal(t, 403, ask("{", wrong).Code, wrong)
	}
	require.Equal(t, 400, ask("{", "another").Code, "the second secret")

	require.Contains(t, ask("{", "secret").Body.String(), `{"success":false,"error":{"code":"INVALID_REQUEST"`)
	require.Contains(t, ask(`{"operation":"single","points":9}`, "secret").Body.String(), `{"status":400,`)

	require.Equal(t, `{"mx":[true],"partial":false}`, ask(single, "secret").Body.String())
	require.Equal(t, ledger.Charge{Points: 1, Found: book.Found{Valid: 1, Public: 1}}, f.ledger.charged)
	require.Equal(t, `{"mx":[true],"partial":false}`, ask(batch, "secret").Body.String())
	require.Equal(t, ledger.Charge{Points: 2, Found: book.Found{Valid: 1, Invalid: 1}}, f.ledger.charged)

	require.Equal(t, `{"mx":[],"partial":false}`, ask(free, "secret").Body.String())
	require.NotContains(t, f.trace.list(), "charge")

	f.ledger.claim = decided(ledger.Insufficient)
	require.Contains(t, ask(single, "secret").Body.String(), `{"status":429,"title":"Too Many Requests","detail":"Rate limit exceeded: the month's`)
	require.Contains(t, ask(batch, "secret").Body.String(), `"code":"INSUFFICIENT_USAGE"`)
	require.Equal(t, 200, ask(free, "secret").Code, "refused input needs no points")

	f.resolver.ask["mail.example"] = func(context.Context) (bool, error) { return false, errors.New("broken") }
	f.ledger.claim = outcomeOf{}
	require.Equal(t, 503, ask(single, "secret").Code)
	require.NotContains(t, f.trace.list(), "charge")
	require.Equal(t, `{"mx":["DNS_FAILURE"],"partial":false}`, ask(batch, "secret").Body.String())
	require.Equal(t, ledger.Charge{Points: 2, Found: book.Found{Invalid: 1, LookupErrors: 1}}, f.ledger.charged)
}

// A tracedWriter records in the trace when the response is sent.
type tracedWriter struct {
	http.ResponseWriter
	trace *trace
}

func (w tracedWriter) WriteHeader(status int) {
	w.trace.add("send")
	w.ResponseWriter.WriteHeader(status)
}

// A request without a charge ends before its response is sent, a charged one after.
func TestWhenRequestsEnd(t *testing.T) {
	for want, claim := range map[string]ledger.Kind{
		"begin body claim charge send end": ledger.Good,
		"begin body claim end send":        ledger.Insufficient,
	} {
		f := newFakes(t)
		f.ledger.begin, f.ledger.claim = decided(ledger.Good), decided(claim)
		f.ServeHTTP(tracedWriter{httptest.NewRecorder(), f.trace}, f.ask(http.MethodPost, "/v1/emails", twoAddresses))
		require.Equal(t, want, strings.Join(f.trace.list(), " "))
	}
}

// A late refusal ends the request's context, and with it a read of the ledger: the response
// is the refusal, not that the ledger failed.
func TestLateRefusalDuringARead(t *testing.T) {
	f := newFakes(t)
	f.ledger.begin = decided(ledger.Good)
	f.ledger.claim = outcomeOf{err: context.Canceled}
	f.ledger.onClaim = func() { f.ledger.late = ledger.RateLimited }
	resp := f.send(f.ask(http.MethodGet, "/v1/email/jane@example.org", ""))
	require.Equal(t, http.StatusTooManyRequests, resp.Code, resp.Body)
	require.Equal(t, []string{"begin", "claim", "end"}, f.trace.list())
}

// Every 401 has a challenge (RFC 9110 section 11.6.1), and none for which a browser shows
// a dialog.
func TestChallenges(t *testing.T) {
	f := newFakes(t)
	f.Pages = pagesOf(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	ask := func(method, target string) string {
		w := f.send(httptest.NewRequest(method, target, nil))
		require.Equal(t, http.StatusUnauthorized, w.Code, target)
		return w.Header().Get("WWW-Authenticate")
	}
	for _, target := range []string{"/v1/email/a@mail.example", "/v1/email", "/v1/usage"} {
		require.Equal(t, `Bearer realm="addrspec"`, ask(http.MethodGet, target))
	}
	require.Equal(t, `Bearer realm="addrspec"`, ask(http.MethodPost, "/v1/emails"))
	require.Equal(t, `Cookie realm="addrspec"`, ask(http.MethodGet, "/dashboard"))
}

type pagesOf func(http.ResponseWriter, *http.Request)

func (f pagesOf) ServeHTTP(w http.ResponseWriter, r *http.Request) { f(w, r) }
func (f pagesOf) Has(*http.Request) bool                           { return true }
