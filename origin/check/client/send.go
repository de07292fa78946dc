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
	"sync"
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

// send sends the request until the response is a 200, cannot succeed, or the
// limits are reached.
func (c *Client) send(ctx context.Context, r *request) (reply, error) {
	if c.once {
		return c.sendOnce(ctx, r)
	}
	begin, defects := time.Now(), 0
	for attempt := 1; ; attempt++ {
		if err := c.pacer.wait(ctx); err != nil {
			return reply{}, err
		}
		got, err := c.exchange(ctx, r)
		if ctx.Err() != nil {
			return reply{}, context.Cause(ctx)
		}
		c.learn(got.header)
		j := c.judge(got, err)
		if got.status == http.StatusInternalServerError {
			defects++
		}
		pause := c.pause(j.after, attempt)
		switch {
		case j.err == nil:
			return got, nil
		case !j.again:
			return reply{}, j.err
		case j.after > maxRetryAfter:
			return reply{}, fmt.Errorf("%w; it asks to wait %s", j.err, j.after)
		case attempt == maxAttempts, defects == maxDefects, time.Since(begin)+pause > r.patience:
			return reply{}, &gaveUpError{attempt, j.err}
		}
		if got.status == http.StatusTooManyRequests {
			c.pacer.pause(pause)
			continue
		}
		if err := sleep(ctx, pause); err != nil {
			return reply{}, err
		}
	}
}

// sendOnce sends the request to the handler in this process.
func (c *Client) sendOnce(ctx context.Context, r *request) (reply, error) {
	got, err := c.exchange(ctx, r)
	if err == nil && got.status != http.StatusOK {
		problem, _ := readProblem(got)
		return reply{}, problem
	}
	return got, err
}

// pause returns the time until the next attempt: what the service asks for and a
// little more, or a random part of a time that doubles.
func (c *Client) pause(asked time.Duration, attempt int) time.Duration {
	if asked > 0 {
		return asked + rand.N(retryAfterExtra)
	}
	longest := min(firstBackoff<<min(attempt-1, 10), maxBackoff)
	return longest/2 + rand.N(longest/2)
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

// A pacer spaces requests: at most the account's rate, and none while the service
// asked to wait. Other clients of the account may use the rate too, so requests
// can still be refused with 429.
type pacer struct {
	limiter *rate.Limiter

	mu    sync.Mutex
	until time.Time // no request before; zero if the service did not ask
}

func newPacer() pacer { return pacer{limiter: rate.NewLimiter(rate.Inf, 1)} }

// wait returns when the next request may be sent.
func (p *pacer) wait(ctx context.Context) error {
	for {
		p.mu.Lock()
		left := time.Until(p.until)
		p.mu.Unlock()
		if left <= 0 {
			break
		}
		if err := sleep(ctx, left); err != nil {
			return err
		}
	}
	reservation := p.limiter.Reserve() // the burst is at least 1, so it is OK
	if err := sleep(ctx, reservation.Delay()); err != nil {
		reservation.Cancel()
		return err
	}
	return nil
}

// pause makes all requests wait.
func (p *pacer) pause(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.until) {
		p.until = until
	}
}

// slower is the part of the account's rate that is used, since requests do not
// arrive exactly as far apart as they were sent.
const slower = 0.97

// setRate sets the account's rate in requests a second; 0 means unlimited.
func (p *pacer) setRate(perSecond int64) {
	limit, burst := rate.Inf, 1
	if perSecond > 0 {
		limit, burst = rate.Limit(float64(perSecond)*slower), int(min(perSecond, Concurrency))
	}
	if p.limiter.Limit() != limit {
		p.limiter.SetLimit(limit)
		p.limiter.SetBurst(burst)
	}
}

// learn takes the rate and the points left from the header of any response.
func (c *Client) learn(h http.Header) {
	if current := h.Get("X-Usage-Current"); current == "" {
		return // not a response to a valid key
	}
	c.pacer.setRate(quantity(h.Get("RateLimit-Policy"), `"rate";q=`))
	left := int64(unlimitedPoints)
	if strings.Contains(h.Get("RateLimit"), pointsItem) {
		left = quantity(h.Get("RateLimit"), pointsItem)
	}
	c.left.Store(left)
}

const pointsItem = `"points";r=`

// quantity returns the number after name, or 0. The service writes the fields
// RateLimit and RateLimit-Policy as in the draft's examples, without white space in
// an item (api/wire/response.go); from another form nothing is learned.
func quantity(field, name string) int64 {
	_, rest, _ := strings.Cut(field, name)
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		rest = rest[:end]
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// A request is what an attempt sends.
type request struct {
	method, path string // path is escaped
	body         []byte
	idempotency  string // Idempotency-Key; may be empty

	patience time.Duration // from the first attempt to the last
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

var errTooLarge = errors.New("the response is larger than any of the service")

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
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	if err == nil && len(body) > maxResponse {
		err = errTooLarge
	}
	return reply{response.StatusCode, response.Header, body}, err
}

func (c *Client) newRequest(ctx context.Context, r *request) (*http.Request, error) {
	target := c.base.Scheme + "://" + c.base.Host + c.base.EscapedPath() + r.path
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

// A judgement is what an attempt means: err is nil for a response of 200.
type judgement struct {
	err   error
	again bool          // the request may be sent again
	after time.Duration // as the service asks; 0 if it does not
}

// judge classifies the outcome of an attempt. Repeating it is safe, since a batch
// has an Idempotency-Key and other requests change nothing but cost.
func (c *Client) judge(r reply, err error) judgement {
	switch {
	case errors.Is(err, errTooLarge):
		return judgement{err: &badResponseError{errTooLarge.Error()}}
	case err != nil:
		return judgement{err: &unreachableError{c.base.Host, err}, again: !isPermanent(err)}
	case r.status == http.StatusOK:
		return judgement{}
	case r.status >= 300 && r.status < 400:
		return judgement{err: redirected(r)}
	}
	problem := problemOf(r)
	return judgement{err: problem, again: isTemporary(r.status) && asOutOfPoints(problem) == nil, after: retryAfter(r.header)}
}

// isPermanent reports whether an error of the network will not pass: the
// certificate of the service is not valid.
func isPermanent(err error) bool {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	return unknown || name || invalid || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

// isTemporary reports whether a status may change: the service or a proxy is
// overloaded, stopping or starting, or the first attempt of a batch is still in
// progress (409). 402 is not: points refill once a month.
func isTemporary(status int) bool {
	switch status {
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// redirected returns the error for a redirect. It names the host alone.
func redirected(r reply) error {
	place := "elsewhere"
	if to, err := url.Parse(r.header.Get("Location")); err == nil && to.Host != "" {
		place = sentence(to.Scheme + "://" + to.Host)
	}
	return &badResponseError{fmt.Sprintf("the response (status %d) redirects to %s, which is not followed, so that the key is sent to the given service only", r.status, place)}
}

// problemOf returns the error of a response.
func problemOf(r reply) error {
	problem, out := readProblem(r)
	if r.status == http.StatusPaymentRequired && problem.Code != "" {
		return out
	}
	return problem
}

// readProblem reads an error response in one of the contract's three shapes. The body
// of a proxy, such as HTML, leaves the message empty. The second is for 402 alone.
func readProblem(r reply) (*Problem, *outOfPointsError) {
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
	return &Problem{Status: r.status, Code: sentence(inner.Code), Message: sentence(inner.Message)},
		&outOfPointsError{Required: inner.Required, Remaining: inner.Remaining}
}

// retryAfter returns the seconds of Retry-After. The service sends no date.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
