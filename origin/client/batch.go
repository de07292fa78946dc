package client

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
)

// An Item is what is known of one address.
type Item struct {
	Result        []byte // a JSON object of 16 fields, and details if asked for, on one line; nil if Code is set
	Code, Message string // of an error that concerns this address, such as DNS_TIMEOUT
}

// Batch checks addresses with POST /v1/emails and returns an item for each, in
// their order. Equal addresses are sent once. An address that cannot be sent gets
// an item with a code, at no cost.
//
// More addresses than fit one request are sent in several, one after the other. An
// answer that is partial is completed with further requests for the rest.
func (c *Client) Batch(ctx context.Context, emails []string, details bool) ([]Item, error) {
	found := make(map[string]Item, len(emails))
	for rest := distinct(emails, found); len(rest) > 0; {
		n, body := encodeBatch(rest, details)
		if err := c.batch(ctx, rest[:n], body, details, found); err != nil {
			return nil, err
		}
		rest = missing(rest, found)
	}
	items := make([]Item, len(emails))
	for n, email := range emails {
		items[n] = found[email]
	}
	return items, nil
}

// distinct returns the addresses to send, each once. It adds the items of those
// that cannot be sent to found.
func distinct(emails []string, found map[string]Item) (list []string) {
	seen := make(map[string]bool, len(emails))
	for _, email := range emails {
		if seen[email] {
			continue
		}
		seen[email] = true
		if text := unsendable(email); text != "" {
			found[email] = Item{Code: codeInvalid, Message: text}
			continue
		}
		list = append(list, email)
	}
	return list
}

func missing(emails []string, found map[string]Item) (rest []string) {
	for _, email := range emails {
		if _, ok := found[email]; !ok {
			rest = append(rest, email)
		}
	}
	return rest
}

// batch sends one request and adds the items of its answer, at least one, to
// found.
func (c *Client) batch(ctx context.Context, emails []string, body []byte, details bool, found map[string]Item) error {
	release, err := c.share(ctx)
	if err != nil {
		return err
	}
	defer release()
	if failed := c.failed.Load(); failed != nil {
		return *failed
	}
	err = c.post(ctx, emails, body, details, found)
	if err != nil && c.oneRun {
		c.failed.CompareAndSwap(nil, &err)
	}
	return err
}

func (c *Client) post(ctx context.Context, emails []string, body []byte, details bool, found map[string]Item) error {
	answer, err := c.send(ctx, &request{method: http.MethodPost, path: "/v1/emails", body: body,
		idempotency: c.idempotencyKey(body), patience: patience})
	if err != nil {
		return c.withRefill(ctx, err)
	}
	return readBatch(answer.body, emails, details, found)
}

// idempotencyKey returns the key of a batch with this body: the same for each
// attempt and for a later run with the same RunID, and otherwise random.
func (c *Client) idempotencyKey(body []byte) string {
	mac := hmac.New(sha256.New, []byte(c.runID))
	mac.Write(body)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// unlimitedPoints is the number of points left for an account without a limit, and
// before it is known.
const unlimitedPoints = 1 << 62

// scarcePoints is the number of points left from which batches are sent one at a
// time. Those that are under way could use them up, so that a batch is refused
// while one after it is answered and charged, but not written.
const scarcePoints = 2 * Concurrency * MaxBatch

// share waits for a share of the requests under way.
func (c *Client) share(ctx context.Context) (release func(), err error) {
	n := int64(1)
	if c.left.Load() < scarcePoints {
		n = Concurrency
	}
	if err := c.slots.Acquire(ctx, n); err != nil {
		return nil, context.Cause(ctx)
	}
	return func() { c.slots.Release(n) }, nil
}
