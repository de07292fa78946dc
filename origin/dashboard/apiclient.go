package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// apiClient calls the API's handler in this process, with the account's dashboard
// key. So checks made in the dashboard cost points, take tokens of the rate and are
// refused exactly as any other request is.
type apiClient struct {
	handler http.Handler
	ledger  *ledger.Ledger
	secrets *apiSecrets
	log     *slog.Logger
}

// An apiRequest is what goes into the API: nothing else of the browser's request
// does, such as its cookies.
type apiRequest struct {
	method, path string
	body         io.Reader // may be nil
	length       int64     // of the body; -1 if it is unknown
	header       http.Header
}

// passedIn and passedOut are the headers that go into the API and come out of it.
var (
	passedIn  = []string{"Content-Type", "Accept", "Idempotency-Key"}
	passedOut = []string{"Content-Type", "X-Usage-Current", "X-Usage-Limit", "X-Usage-Overage", "Ratelimit", "Ratelimit-Policy",
		"Retry-After", "Idempotency-Replayed", "X-Request-Id"}
)

// An apiResponse is a response of the API.
type apiResponse struct {
	status int
	header http.Header // the headers of passedOut
	body   []byte
}

// call sends a request for an account. A secret that the API refuses, because it
// was replaced or has expired, is renewed once: the key is judged before the body
// is read, so the same body can be sent again.
func (c *apiClient) call(ctx context.Context, account int64, q apiRequest) *apiResponse {
	for attempt := 1; ; attempt++ {
		secret, err := c.secrets.get(ctx, account)
		if err != nil {
			return c.failed(err)
		}
		resp := c.send(ctx, secret, q)
		if resp.status != http.StatusUnauthorized {
			return resp
		}
		c.secrets.drop(account, secret)
		if attempt == 2 {
			return c.unauthorized(ctx, account, resp)
		}
	}
}

// send calls the handler once.
func (c *apiClient) send(ctx context.Context, secret string, q apiRequest) *apiResponse {
	r, err := http.NewRequestWithContext(ctx, q.method, q.path, q.body)
	if err != nil {
		return c.failed(err)
	}
	if q.body != nil {
		r.ContentLength = q.length
	}
	r.RemoteAddr = "127.0.0.1:0"
	copyHeaders(r.Header, q.header, passedIn)
	r.Header.Set("X-API-Key", secret)
	w := &responseWriter{header: http.Header{}, status: http.StatusOK}
	c.handler.ServeHTTP(w, r)
	resp := &apiResponse{status: w.status, header: http.Header{}, body: w.body.Bytes()}
	copyHeaders(resp.header, w.header, passedOut)
	return resp
}

func copyHeaders(to, from http.Header, names []string) {
	for _, name := range names {
		if values := from.Values(name); len(values) > 0 {
			to[http.CanonicalHeaderKey(name)] = values
		}
	}
}

// unauthorized says why the account's own key is refused, if it is known.
func (c *apiClient) unauthorized(ctx context.Context, account int64, resp *apiResponse) *apiResponse {
	a, err := c.ledger.Account(ctx, account)
	if err != nil || a.Suspended.IsZero() {
		return resp
	}
	own := flatResponse(http.StatusUnauthorized, "INVALID_API_KEY", "The account is suspended, so it cannot check addresses. Contact the operator of this service.")
	own.header.Set("X-Request-Id", resp.header.Get("X-Request-Id"))
	return own
}

// failed responds to a request that could not be sent.
func (c *apiClient) failed(err error) *apiResponse {
	if !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
		c.log.Error("the dashboard cannot call the API", "error", err.Error())
	}
	resp := flatResponse(http.StatusServiceUnavailable, "REQUEST_CANCELLED", "The database does not respond at the moment; nothing was charged. Try again shortly.")
	resp.header.Set("Retry-After", "1")
	return resp
}

// flatResponse returns an error response in shape A of the API.
func flatResponse(status int, code, sentence string) *apiResponse {
	body, _ := json.Marshal(struct {
		Status int    `json:"status"`
		Error  string `json:"error"`
		Code   string `json:"code"`
	}{status, sentence, code}) // a number and strings: cannot fail
	return &apiResponse{status, http.Header{"Content-Type": {"application/json"}}, body}
}

// rateResponse returns a 429 in shape C of the API.
func rateResponse(detail string) *apiResponse {
	body, _ := json.Marshal(struct {
		Status int    `json:"status"`
		Title  string `json:"title"`
		Detail string `json:"detail"`
	}{http.StatusTooManyRequests, http.StatusText(http.StatusTooManyRequests), detail})
	return &apiResponse{http.StatusTooManyRequests, http.Header{"Content-Type": {"application/json"}}, body}
}

// A responseWriter keeps a response in memory. The API bounds its size.
type responseWriter struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
}

func (w *responseWriter) Header() http.Header { return w.header }

func (w *responseWriter) WriteHeader(status int) {
	if !w.wrote {
		w.status, w.wrote = status, true
	}
}

func (w *responseWriter) Write(p []byte) (int, error) {
	w.wrote = true
	return w.body.Write(p)
}

const (
	maxSecrets  = 10_000           // accounts whose secret is in memory
	renewBefore = 5 * time.Minute  // the end of a secret
	secretTime  = 10 * time.Second // to create one
)

// apiSecrets has a secret of the dashboard key of each account that checks
// addresses here. Secrets are in memory only; the database has their hashes.
type apiSecrets struct {
	ledger *ledger.Ledger
	cache  *otter.Cache[int64, apiSecret]
}

type apiSecret struct {
	text string
	life time.Duration // how long to use it, by the database's clock
}

func newAPISecrets(l *ledger.Ledger) *apiSecrets {
	return &apiSecrets{l, otter.Must(&otter.Options[int64, apiSecret]{
		MaximumSize: maxSecrets,
		Logger:      &otter.NoopLogger{},
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[int64, apiSecret]) time.Duration {
			return e.Value.life
		}),
	})}
}

// get returns a secret of the account. Requests that need a new one at the same
// time share it, so none is cancelled with the request that asked first.
func (s *apiSecrets) get(ctx context.Context, account int64) (string, error) {
	secret, err := s.cache.Get(context.WithoutCancel(ctx), account, otter.LoaderFunc[int64, apiSecret](s.create))
	return secret.text, err
}

func (s *apiSecrets) create(ctx context.Context, account int64) (apiSecret, error) {
	ctx, cancel := context.WithTimeout(ctx, secretTime)
	defer cancel()
	text, expires, err := s.ledger.DashboardSecret(ctx, account)
	if err != nil {
		return apiSecret{}, err
	}
	now, err := s.ledger.Now(ctx)
	return apiSecret{text, max(expires.Sub(now)-renewBefore, time.Second)}, err
}

// drop forgets a secret that the API refused, unless it was replaced meanwhile.
func (s *apiSecrets) drop(account int64, text string) {
	s.cache.ComputeIfPresent(account, func(old apiSecret) (apiSecret, otter.ComputeOp) {
		if old.text == text {
			return old, otter.InvalidateOp
		}
		return old, otter.CancelOp
	})
}
