package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
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

// send sends the request until it is answered with 200, cannot succeed, or the
// limits are reached.
func (c *Client) send(ctx context.Context, r *request) (reply, error) {
	begin, defects := time.Now(), 0
	for attempt := 1; ; attempt++ {
		if err := c.pacer.wait(ctx); err != nil {
			return reply{}, err
		}
		answer, err := c.exchange(ctx, r)
		if ctx.Err() != nil {
			return reply{}, context.Cause(ctx)
		}
		c.learn(answer.header)
		j := c.judge(answer, err)
		if answer.status == http.StatusInternalServerError {
			defects++
		}
		pause := c.pause(j.after, attempt)
		switch {
		case j.err == nil:
			return answer, nil
		case !j.again:
			return reply{}, j.err
		case j.after > maxRetryAfter:
			return reply{}, fmt.Errorf("%w; it asks to wait %s", j.err, j.after)
		case attempt == maxAttempts, defects == maxDefects, time.Since(begin)+pause > r.patience:
			return reply{}, &GaveUp{attempt, j.err}
		}
		if answer.status == http.StatusTooManyRequests {
			c.pacer.pause(pause)
			continue
		}
		if err := sleep(ctx, pause); err != nil {
			return reply{}, err
		}
	}
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

// IsOutOfPoints returns the error of an account without points, or nil.
func IsOutOfPoints(err error) *OutOfPoints {
	out, _ := errors.AsType[*OutOfPoints](err)
	return out
}
