package client

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

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

// learn takes the rate and the points left from the header of any answer.
func (c *Client) learn(h http.Header) {
	if current := h.Get("X-Usage-Current"); current == "" {
		return // not an answer to a valid key
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
// an item (api/ratelimit.go); from another form nothing is learned.
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
