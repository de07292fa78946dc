package client

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// Limits of the attempts of one request. A restart of the service takes some
// seconds.
const (
	maxAttempts     = 30
	maxDefects      = 3 // attempts that end with 500, which is a defect of the service
	patience        = 2 * time.Minute
	startPatience   = 10 * time.Second // for GET /v1/usage, with which a run begins and ends
	maxRetryAfter   = time.Minute
	firstBackoff    = 250 * time.Millisecond
	maxBackoff      = 10 * time.Second
	retryAfterExtra = 250 * time.Millisecond // at most, so that clients do not return at once
)

// A request is what an attempt sends.
type request struct {
	method, path string // path is escaped
	body         []byte
	idempotency  string // Idempotency-Key; may be empty

	patience time.Duration // from the first attempt to the last
}

// send sends the request until the response is a 200, whose body it returns, cannot
// succeed, or the limits are reached.
func (c *Client) send(ctx context.Context, r *request) ([]byte, error) {
	if c.once {
		got, err := c.exchange(ctx, r)
		if err == nil && got.status != http.StatusOK {
			err = problemOf(got)
		}
		return got.body, err
	}
	begin, defects := time.Now(), 0
	for attempt := 1; ; attempt++ {
		err := c.wait(ctx)
		var got reply
		if err == nil {
			got, err = c.exchange(ctx, r)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.learn(got.header)
		again, err := c.judge(got, err)
		if err == nil || !again {
			return got.body, err
		}
		if got.status == http.StatusInternalServerError {
			defects++
		}
		// What the service asks for and a little more, or a random part of a time that doubles.
		longest := min(firstBackoff<<min(attempt-1, 10), maxBackoff)
		pause := longest/2 + rand.N(longest/2)
		if seconds, err := strconv.ParseUint(got.header.Get("Retry-After"), 10, 31); err == nil && seconds > 0 {
			asked := time.Duration(seconds) * time.Second // the service sends no date
			pause = asked + rand.N(retryAfterExtra)
			if asked > maxRetryAfter {
				return nil, fmt.Errorf("%w; it asks to wait %s", err, asked)
			}
		}
		if attempt == maxAttempts || defects == maxDefects || time.Since(begin)+pause > r.patience {
			if attempt > 1 {
				err = fmt.Errorf("gave up after %d attempts: %w", attempt, err)
			}
			return nil, err
		}
		if got.status == http.StatusTooManyRequests {
			c.mu.Lock()
			if until := time.Now().Add(pause); until.After(c.until) {
				c.until = until
			}
			c.mu.Unlock()
		} else if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// wait returns when the next request may be sent: at most at the account's rate, and
// none while the service asked to wait.
func (c *Client) wait(ctx context.Context) error {
	for {
		c.mu.Lock()
		left := time.Until(c.until)
		c.mu.Unlock()
		if left <= 0 {
			break
		}
		if err := sleep(ctx, left); err != nil {
			return err
		}
	}
	reservation := c.limiter.Reserve() // the burst is at least 1, so it is OK
	err := sleep(ctx, reservation.Delay())
	if err != nil {
		reservation.Cancel()
	}
	return err
}

// sleep waits, or returns the cause of the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// slower is the part of the account's rate that is used, since requests do not
// arrive exactly as far apart as they were sent.
const slower = 0.97

const pointsItem = `"points";r=`

// learn takes the rate and the points left from the header of any response.
func (c *Client) learn(h http.Header) {
	if h.Get("X-Usage-Current") == "" {
		return // not a response to a valid key
	}
	limit, burst := rate.Inf, 1
	if perSecond := quantity(h.Get("RateLimit-Policy"), `"rate";q=`); perSecond > 0 {
		limit, burst = rate.Limit(float64(perSecond)*slower), int(min(perSecond, Concurrency))
	}
	if c.limiter.Limit() != limit {
		c.limiter.SetLimit(limit)
		c.limiter.SetBurst(burst)
	}
	left := int64(unlimitedPoints)
	if strings.Contains(h.Get("RateLimit"), pointsItem) {
		left = quantity(h.Get("RateLimit"), pointsItem)
	}
	c.left.Store(left)
}

// quantity returns the number after name, or 0. The service writes the fields
// RateLimit and RateLimit-Policy as in the draft's examples, without white space in
// an item (api/wire/response.go); from another form nothing is learned.
func quantity(field, name string) int64 {
	_, rest, _ := strings.Cut(field, name)
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// A reply is the response to an attempt.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// maxResponse is the largest body of a response in bytes. That to a batch of 1 MiB
// has twice its addresses, where a byte may be escaped with six, and
// with a few KiB for each of 64 results.
const maxResponse = 16 << 20

var errTooLarge = &badResponseError{"the response is larger than any of the service"}

// exchange sends the request once. Its errors do not have the URL.
func (c *Client) exchange(ctx context.Context, r *request) (reply, error) {
	target := c.base.Scheme + "://" + c.base.Host + c.base.EscapedPath() + r.path
	sent, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(r.body))
	if err != nil {
		return reply{}, errors.New("the request cannot be built")
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
	response, err := c.http.Do(sent)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return reply{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	if err == nil && len(body) > maxResponse {
		err = errTooLarge
	}
	return reply{response.StatusCode, response.Header, body}, err
}

// judge returns what an attempt means: nil for a response of 200, else an error, and whether
// the request may be sent again. That is safe, since a batch has an Idempotency-Key
// and other requests change nothing.
func (c *Client) judge(r reply, err error) (again bool, _ error) {
	switch {
	case err == errTooLarge:
		return false, err
	case err != nil:
		_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
		_, name := errors.AsType[x509.HostnameError](err)
		_, invalid := errors.AsType[x509.CertificateInvalidError](err)
		lasting := unknown || name || invalid ||
			strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
		// net/http repeats the reason of a proxy as it came.
		return !lasting, fmt.Errorf("cannot reach the service at %s: %s; check the URL and the network",
			c.base.Host, sentence(err.Error()))
	case r.status == http.StatusOK:
		return false, nil
	case r.status >= 300 && r.status < 400:
		place := "elsewhere"
		if to, err := url.Parse(r.header.Get("Location")); err == nil && to.Host != "" {
			place = sentence(to.Scheme + "://" + to.Host)
		}
		return false, &badResponseError{fmt.Sprintf("the response (status %d) redirects to %s, "+
			"which is not followed, so that the key is sent to the given service only", r.status, place)}
	}
	// The service or a proxy is overloaded, stopping or starting, or the first attempt of a
	// batch is still in progress (409). 402 is not among them: points refill once a month.
	switch r.status {
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return again, problemOf(r)
}

// A Problem is one that the service reported.
type Problem struct {
	Status  int
	Code    string // such as INVALID_API_KEY; may be empty
	Message string // safe to print

	required, remaining int64 // points, with 402
}

// Error returns the service's own sentence.
func (e *Problem) Error() string {
	text := fmt.Sprintf("the service refused the request with status %d", e.Status)
	if e.Code != "" {
		text += " " + e.Code
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// problemOf reads an error response in one of the contract's three shapes. The body
// of a proxy, such as HTML, leaves code and message empty.
func problemOf(r reply) *Problem {
	var body struct {
		Error  json.RawMessage // A: the message; B: an object
		Code   string          // A
		Detail string          // C
	}
	_ = json.Unmarshal(r.body, &body)
	var inner struct {
		Code, Message       string
		Required, Remaining int64
	}
	if json.Unmarshal(body.Error, &inner) != nil {
		_ = json.Unmarshal(body.Error, &inner.Message)
		inner.Code = body.Code
	}
	if r.status == http.StatusTooManyRequests {
		inner.Message = body.Detail
	}
	if !isCode(inner.Code) {
		inner.Code = ""
	}
	return &Problem{r.status, inner.Code, sentence(inner.Message), inner.Required, inner.Remaining}
}
