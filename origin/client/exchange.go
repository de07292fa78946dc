package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"
)

// A request is what an attempt sends.
type request struct {
	method, path string // path is escaped
	query        string
	body         []byte
	idempotency  string // Idempotency-Key; may be empty

	patience time.Duration // from the first attempt to the last
}

// A reply is the answer to an attempt.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// maxAnswer is the largest body of an answer in bytes. A batch of 1 MiB is
// answered with twice its addresses, where a byte may be escaped with six, and
// with a few KiB for each of 64 results.
const maxAnswer = 16 << 20

var errTooLarge = errors.New("the answer is larger than any answer of the service")

// exchange sends the request once.
func (c *Client) exchange(ctx context.Context, r *request) (reply, error) {
	sent, err := c.newRequest(ctx, r)
	if err != nil {
		return reply{}, err
	}
	response, err := c.http.Do(sent)
	if err != nil {
		return reply{}, withoutURL(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = errTooLarge
	}
	return reply{response.StatusCode, response.Header, body}, err
}

func (c *Client) newRequest(ctx context.Context, r *request) (*http.Request, error) {
	target := c.base.Scheme + "://" + c.base.Host + c.base.EscapedPath() + r.path + r.query
	sent, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(r.body))
	if err != nil {
		return nil, errors.New("the request cannot be built")
	}
	sent.Header.Set("X-API-Key", c.key)
	sent.Header.Set("Accept", "application/json")
	sent.Header.Set("User-Agent", c.agent)
	if r.body != nil {
		sent.Header.Set("Content-Type", "application/json")
	}
	if r.idempotency != "" {
		sent.Header.Set("Idempotency-Key", r.idempotency)
	}
	return sent, nil
}

// withoutURL returns the cause of an error of net/http, whose text has the URL and
// so the address that is checked.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
