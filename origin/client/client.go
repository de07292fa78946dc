// Package client is a client of the service's HTTP API, for the commands of this
// program: a check of one address, batches of any size, and the account's usage.
//
//	c, err := client.New(client.Config{URL: "https://addrspec.example", Key: key})
//	items, err := c.Batch(ctx, []string{"jane@example.org"}, false)
//
// It is written for long lists and imperfect networks:
//
//   - A request goes through exchange.go (one attempt), judge.go (what its answer
//     means) and retry.go (whether and when to try again). Every batch has an
//     Idempotency-Key, so an attempt whose answer was lost is not charged again.
//   - pace.go keeps the account's rate, so that few requests are refused.
//   - Answers are limited in size and verified (verify.go), since a proxy or another
//     service may answer. What was not verified is not returned.
//   - The key is sent to the configured service only: redirects are not followed.
//     No error contains the key or an address.
//
// A generated client (see "Making a client" in ../README.md) has none of this, and
// the API has three operations, so it is built on net/http. golang.org/x/time/rate
// keeps the rate.
package client

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// Concurrency is how many batches are under way at most.
const Concurrency = 4

// A Config configures a [Client].
type Config struct {
	URL   string // of the service, such as https://addrspec.example
	Key   string // API key
	Agent string // User-Agent; may be empty

	// RunID makes the Idempotency-Keys, together with the content of each batch. A
	// run that is repeated with the same RunID within 24 hours is not charged again
	// for batches that were answered. If it is empty, a random one is used.
	RunID string

	// OneRun makes the first error of a batch that of all later ones, which are not
	// sent: a run ends there, and what comes after would be charged for nothing.
	OneRun bool

	transport http.RoundTripper // for tests
}

// A Client sends requests to one service. It is safe for concurrent use.
type Client struct {
	base  *url.URL
	key   string
	agent string
	runID string
	http  *http.Client
	pacer pacer

	// slots limits the batches under way. A batch takes all of them when few points
	// are left: see Client.share.
	slots *semaphore.Weighted
	left  atomic.Int64 // points, or unlimitedPoints

	oneRun bool
	failed atomic.Pointer[error] // the first error of a batch, with oneRun
}

// New returns a client. It sends no request. The error does not contain the key.
func New(c Config) (*Client, error) {
	base, err := parseURL(c.URL)
	if err != nil {
		return nil, err
	}
	if err := checkKey(c.Key); err != nil {
		return nil, err
	}
	if c.RunID == "" {
		c.RunID = rand.Text()
	}
	if c.transport == nil {
		c.transport = newTransport()
	}
	client := &Client{base: base, key: c.Key, agent: c.Agent, runID: c.RunID, oneRun: c.OneRun, pacer: newPacer(),
		http: newHTTP(c.transport), slots: semaphore.NewWeighted(Concurrency)}
	client.left.Store(unlimitedPoints)
	return client, nil
}

// RunID returns the id that was given or made.
func (c *Client) RunID() string { return c.runID }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }
