// Package client is a client of the service's HTTP API, for the commands of this program: lists of any length, and
// the account's usage.
//
//	c, err := client.New(client.Config{URL: "https://addrspec.example", Key: key})
//	err = (&client.Checker{Client: c}).Check(ctx, records, outcomes)
//
// It is written for long lists and imperfect networks. An attempt whose response was lost is sent again and not
// charged again (send.go). Responses are limited in size, and what is not verified is not returned (batch.go),
// since a proxy or another service may respond. The key is sent to the configured service only, and no error has
// it or an address. A generated client (see origin/api/README.md) has none of this.
package client

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/addrspec/addrspec/origin/outgoing"
)

// Concurrency is how many batches are in flight at most.
const Concurrency = 4

// A Config configures a [Client].
type Config struct {
	URL   string // of the service, such as https://addrspec.example; its path precedes that of every request
	Key   string // API key
	Agent string // User-Agent; may be empty

	// RunID makes the Idempotency-Keys, together with the content of each batch. A run that is repeated with the
	// same RunID within 24 hours is not charged again for batches that got a response. "" is a random one.
	RunID string

	// Once sends each request once, without an Idempotency-Key of the client's, and returns a problem as a
	// [Problem]: the caller decides whether to try again.
	Once bool

	// Transport, if not nil, takes the requests in place of the network.
	Transport http.RoundTripper
}

// A Client sends requests to one service. It is safe for concurrent use.
type Client struct {
	Config
	base *url.URL
	http *http.Client

	limiter *rate.Limiter       // other clients of the account use its rate too, so there may still be 429
	slots   *semaphore.Weighted // of batches in flight: one takes all of them while points are scarce
	scarce  atomic.Bool
}

// attemptTimeout limits one attempt. A batch works up to 10 s by default.
const attemptTimeout = 90 * time.Second

// New returns a client. It sends no request.
func New(c Config) (*Client, error) {
	base, err := url.Parse(c.URL)
	switch {
	case err != nil, base.Scheme != "https" && base.Scheme != "http", base.Hostname() == "":
		return nil, errors.New("the URL of the service must begin with https:// and name a host, " +
			"such as https://addrspec.example")
	case base.User != nil, base.RawQuery != "", base.ForceQuery, base.Fragment != "":
		return nil, errors.New("the URL of the service has a user name, a query or a fragment; " +
			"give only scheme, host and path, and the API key apart from it")
	}
	if c.RunID == "" {
		c.RunID = rand.Text()
	}
	client := &Client{Config: c, base: base,
		http:    outgoing.New(outgoing.Options{Timeout: attemptTimeout, Idle: Concurrency}),
		limiter: rate.NewLimiter(rate.Inf, 1), slots: semaphore.NewWeighted(Concurrency)}
	if c.Transport != nil {
		client.http.Transport = c.Transport
	}
	return client, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Exposed reports whether the key and the addresses would be readable on the network: the URL is http, and the host
// is not this machine.
func (c *Client) Exposed() bool {
	ip, _ := netip.ParseAddr(c.base.Hostname())
	return c.base.Scheme == "http" && c.base.Hostname() != "localhost" && !ip.Unmap().IsLoopback()
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

// isPolicy: another name in a command line to go on with could change the terminal, or name a file.
var isPolicy = regexp.MustCompile(`^[a-z0-9_-]{0,64}$`).MatchString

// Usage returns the account's points, at no cost. It also shows if the service can be reached and knows the key.
func (c *Client) Usage(ctx context.Context) (u Usage, err error) {
	body, err := c.send(ctx, "v1/usage", nil, startPatience)
	if err != nil {
		return u, err
	}
	if json.Unmarshal(body, &u, anyCase) != nil || u.Points.Refill.IsZero() || !isPolicy(u.Policy) {
		return Usage{}, badResponse("the response to GET /v1/usage is not the usage of an account")
	}
	return u, nil
}
