// Package client is a client of the service's HTTP API, for the commands of this
// program: batches of any size, and the account's usage.
//
//	c, err := client.New(client.Config{URL: "https://addrspec.example", Key: key})
//	items, err := c.Batch(ctx, []string{"jane@example.org"}, client.Options{})
//
// It is written for long lists and imperfect networks. An attempt whose response was lost
// is sent again and not charged again (send.go). Responses are limited in size, and what
// is not verified is not returned (verify.go), since a proxy or another service may respond.
// The key is sent to the configured service only, and no error has it or an address.
//
// A generated client (see origin/api/README.md) has none of this.
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/addrspec/addrspec/origin/outgoing"
)

// Concurrency is how many batches are in flight at most.
const Concurrency = 4

// A Config configures a [Client].
type Config struct {
	URL   string // of the service, such as https://addrspec.example
	Key   string // API key
	Agent string // User-Agent; may be empty

	// RunID makes the Idempotency-Keys, together with the content of each batch. A
	// run that is repeated with the same RunID within 24 hours is not charged again
	// for batches that got a response. If it is empty, a random one is used.
	RunID string

	// OneRun makes the first error of a batch that of all later ones, which are not
	// sent: a run ends there, and what comes after would be charged for nothing.
	OneRun bool

	// Handler, if not nil, serves the requests in this process in place of the service at URL.
	// Each is sent once, without an Idempotency-Key of the client's, and a problem is a
	// [Problem]: the caller decides whether to try again.
	Handler http.Handler

	transport http.RoundTripper // for tests
}

// A Client sends requests to one service. It is safe for concurrent use.
type Client struct {
	base         *url.URL
	key          string
	agent        string
	runID        string
	http         *http.Client
	once, oneRun bool // see Config.Handler and Config.OneRun

	// Other clients of the account may use its rate too, so requests can still be
	// refused with 429.
	limiter *rate.Limiter
	mu      sync.Mutex
	until   time.Time // no request before, as the service asked with 429

	// slots limits the batches in flight. A batch takes all of them when few points
	// are left.
	slots  *semaphore.Weighted
	left   atomic.Int64          // points, or unlimitedPoints
	failed atomic.Pointer[error] // the first error of a batch, with oneRun
}

// New returns a client. It sends no request. The error does not contain the key.
func New(c Config) (*Client, error) {
	if c.Handler != nil {
		c.URL, c.transport = "http://localhost", inProcess{c.Handler}
	}
	base, err := parseURL(c.URL)
	if err != nil {
		return nil, err
	}
	notVisible := func(r rune) bool { return r <= ' ' || r > '~' } // a header has none (RFC 9110 section 5.5)
	switch {
	case c.Key == "":
		return nil, errors.New("there is no API key")
	case len(c.Key) > maxKey, strings.ContainsFunc(c.Key, notVisible):
		return nil, errors.New("the API key has white space or other characters that no key has, or is too long; " +
			"check that all of it was copied, and nothing else")
	}
	if c.RunID == "" {
		c.RunID = rand.Text()
	}
	client := &Client{base: base, key: c.Key, agent: c.Agent, runID: c.RunID, once: c.Handler != nil, oneRun: c.OneRun,
		http:    outgoing.New(outgoing.Options{Timeout: attemptTimeout, Idle: Concurrency}),
		limiter: rate.NewLimiter(rate.Inf, 1), slots: semaphore.NewWeighted(Concurrency)}
	if c.transport != nil {
		client.http.Transport = c.transport
	}
	client.left.Store(unlimitedPoints)
	return client, nil
}

const (
	maxKey = 256 // bytes; a key of the service has 42
	// attemptTimeout limits one attempt. A batch works up to 10 s by default.
	attemptTimeout = 90 * time.Second
)

// parseURL parses the service's URL. Its path, if any, precedes that of every
// request.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("the URL of the service does not parse; give one such as https://addrspec.example")
	case u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		return nil, fmt.Errorf("the URL of the service is %q: it must begin with https:// and name a host, "+
			"such as https://addrspec.example", u.Redacted())
	case u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return nil, errors.New("the URL of the service has a user name, a query or a fragment; " +
			"give only scheme, host and path, and the API key apart from it")
	}
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), ""
	return u, nil
}

// RunID returns the id that was given or made.
func (c *Client) RunID() string { return c.runID }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Exposed reports whether the key and the addresses would be readable on the
// network: the URL is http, and the host is not this machine.
func (c *Client) Exposed() bool {
	ip, err := netip.ParseAddr(c.base.Hostname())
	local := c.base.Hostname() == "localhost" || err == nil && ip.Unmap().IsLoopback()
	return c.base.Scheme != "https" && !local
}

// A Usage is what an account has left.
type Usage struct {
	Points struct {
		Remaining *int64 // nil: unlimited
		Overage   bool   // more may be used
		Refill    time.Time
	}
	Policy string // the name of the key's default policy, "" for none
}

// Left returns the points that may still be used, and whether they are limited.
func (u *Usage) Left() (points int64, limited bool) {
	if u.Points.Remaining == nil || u.Points.Overage {
		return 0, false
	}
	return *u.Points.Remaining, true
}

// Usage returns the account's points and rate, at no cost. It also shows whether
// the service can be reached and knows the key.
func (c *Client) Usage(ctx context.Context) (u Usage, err error) {
	body, err := c.send(ctx, &request{method: http.MethodGet, path: "/v1/usage", patience: startPatience})
	if err != nil {
		return u, err
	}
	err = json.Unmarshal(body, &u)
	// A name of other characters must not get into a command line to go on with: it could
	// change the terminal, or name a file.
	rest := strings.Trim(u.Policy, "abcdefghijklmnopqrstuvwxyz0123456789-_")
	if err == nil && !u.Points.Refill.IsZero() && len(u.Policy) <= maxPolicyName && rest == "" {
		return u, nil
	}
	return Usage{}, &badResponseError{"the response to GET /v1/usage is not the usage of an account"}
}

// inProcess sends requests to a handler in this process.
type inProcess struct{ http.Handler }

// RoundTrip returns the handler's response.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := Record(p.Handler, r)
	return &http.Response{StatusCode: w.Status, Header: w.header, Body: io.NopCloser(&w.Body), Request: r}, nil
}

// Record returns the response of a handler in this process.
func Record(h http.Handler, r *http.Request) *Recorder {
	w := &Recorder{header: http.Header{}, Status: http.StatusOK}
	h.ServeHTTP(w, r)
	return w
}

// A Recorder keeps a response in memory. The service limits its size.
type Recorder struct {
	header http.Header
	Status int
	Body   bytes.Buffer
}

// Header returns the header.
func (w *Recorder) Header() http.Header { return w.header }

// WriteHeader keeps the status.
func (w *Recorder) WriteHeader(status int) { w.Status = status }

// Write keeps p.
func (w *Recorder) Write(p []byte) (int, error) { return w.Body.Write(p) }
