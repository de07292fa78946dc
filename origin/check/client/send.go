package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/time/rate"

	"github.com/addrspec/addrspec/origin/check/output"
	"github.com/addrspec/addrspec/origin/words"
)

const (
	patience        = 2 * time.Minute  // from the first attempt to the last; a restart takes some seconds
	startPatience   = 10 * time.Second // of the request with which a run begins
	firstBackoff    = 250 * time.Millisecond
	maxBackoff      = 10 * time.Second
	retryAfterExtra = 250 * time.Millisecond // at most, so that clients do not return at once
)

// send sends a GET, or a POST with a body, until the response is a 200, whose body it returns, cannot succeed, or
// the next attempt would not be within the time.
func (c *Client) send(ctx context.Context, path string, body []byte, within time.Duration) ([]byte, error) {
	begin := time.Now()
	for attempt := 1; ; attempt++ {
		if err := c.limiter.Wait(ctx); err != nil {
			return nil, cmp.Or(context.Cause(ctx), err)
		}
		got, err := c.exchange(ctx, path, body)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		again, err := c.judge(got, err)
		if !again || c.Once {
			return got.body, err
		}
		// What the service asks for and a little more, or a random part of a time that doubles.
		longest := min(firstBackoff<<min(attempt-1, 10), maxBackoff)
		pause := longest/2 + rand.N(longest/2)
		seconds, _ := strconv.ParseUint(got.header.Get("Retry-After"), 10, 31) // the service sends no date
		if seconds > 0 {
			pause = time.Duration(seconds)*time.Second + rand.N(retryAfterExtra)
		}
		if time.Since(begin)+pause > within {
			return nil, fmt.Errorf("gave up after %s, as the next would be %s later: %w",
				words.Count(attempt, "attempt"), pause.Round(time.Second), err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

type reply struct {
	status int
	header http.Header
	body   []byte
}

const (
	// maxResponse is how much is read of a response, in bytes. That to a batch of 1 MiB has twice its addresses,
	// where a byte may be escaped with six, and a few KiB for each of 64 results.
	maxResponse = 16 << 20
	// maxRefill is the longest time in seconds until points refill: a month, and more than that.
	maxRefill = 100 * 24 * 60 * 60
	// slower is the part of the account's rate that is used: requests do not arrive as far apart as they were sent.
	slower = 0.97
)

func (c *Client) exchange(ctx context.Context, path string, body []byte) (reply, error) {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	sent, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return reply{}, errors.New("the request cannot be built")
	}
	sent.Header.Set("X-API-Key", c.Key)
	sent.Header.Set("Accept", "application/json")
	sent.Header.Set("User-Agent", c.Agent)
	if body != nil {
		sent.Header.Set("Content-Type", "application/json")
	}
	if body != nil && !c.Once {
		// The same for each attempt and for a later run with the same RunID, else random.
		mac := hmac.New(sha256.New, []byte(c.RunID))
		mac.Write(body)
		sent.Header.Set("Idempotency-Key", base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
	}
	response, err := c.http.Do(sent)
	if err != nil {
		return reply{}, errors.Unwrap(err) // of a url.Error
	}
	defer response.Body.Close()
	c.learn(response.Header)
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	return reply{response.StatusCode, response.Header, text}, err
}

func (c *Client) learn(h http.Header) {
	if h.Get("X-Usage-Current") == "" {
		return // not a response to a valid key
	}
	limit, burst := rate.Inf, 1
	if perSecond, _ := quantity(h.Get("RateLimit-Policy"), `"rate";q=`); perSecond > 0 {
		limit, burst = rate.Limit(float64(perSecond)*slower), int(min(perSecond, Concurrency))
	}
	c.limiter.SetLimit(limit)
	c.limiter.SetBurst(burst)
	left, limited := quantity(h.Get("RateLimit"), `"points";r=`)
	c.scarce.Store(limited && left < scarcePoints)
}

// quantity returns the number after name. The service writes the fields RateLimit and RateLimit-Policy without white
// space in an item (api/wire/response.go); from another form nothing is learned.
func quantity(field, name string) (n uint64, found bool) {
	_, rest, found := strings.Cut(field, name)
	end := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	n, _ = strconv.ParseUint(rest[:end], 10, 64)
	return n, found
}

// judge returns what an attempt means: nil for a response of 200, else an error, and whether the request may be sent
// again. That is safe, since a batch has an Idempotency-Key and other requests change nothing.
func (c *Client) judge(r reply, err error) (again bool, _ error) {
	switch {
	case err != nil:
		_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
		lasting := untrusted || errors.Is(err, http.ErrSchemeMismatch)
		// net/http repeats the reason of a proxy as it came.
		return !lasting, fmt.Errorf("cannot reach the service at %s: %s; check the URL and the network",
			c.base.Host, sentence(err.Error()))
	case r.status == http.StatusOK:
		return false, nil
	case r.status >= 300 && r.status < 400:
		return false, badResponse(fmt.Sprintf("the response (status %d) redirects to %s, which is not followed, "+
			"so that the key is sent to the given service only", r.status, sentence(r.header.Get("Location"))))
	}
	// The service or a proxy is overloaded, stopping or starting, or the first attempt of a batch is in progress
	// (409). 402 is not among them: points refill once a month.
	again = r.status == http.StatusConflict || r.status == http.StatusTooManyRequests || r.status >= 500
	problem := problemOf(r.status, r.body)
	_, points, _ := strings.Cut(r.header.Get("RateLimit"), `"points";r=`)
	seconds, known := quantity(points, ";t=")
	if r.status == http.StatusPaymentRequired && known {
		refill := time.Now().Add(time.Duration(min(seconds, maxRefill)) * time.Second)
		problem.Message = strings.TrimSuffix(problem.Message, ".") + "; they refill on " + words.Date(refill.UTC()) + "."
	}
	return again, problem
}

// A Problem is one that the service reported.
type Problem struct {
	Status  int
	Code    string // such as INVALID_API_KEY; may be empty
	Message string // safe to print
}

// Error returns the service's own sentence.
func (e *Problem) Error() string {
	text := fmt.Sprintf("the service refused the request with status %d %s: %s", e.Status, e.Code, e.Message)
	return strings.TrimRight(text, ": ")
}

// problemOf reads an error response in one of the contract's three shapes. Another body, as of a proxy, leaves code
// and message empty.
func problemOf(status int, text []byte) *Problem {
	var body struct {
		Error  jsontext.Value // A: the message; B: an object
		Code   string         // A
		Detail string         // C: the message
	}
	_ = json.Unmarshal(text, &body, anyCase)
	inner := struct{ Code, Message string }{body.Code, body.Detail}
	if json.Unmarshal(body.Error, &inner, anyCase) != nil {
		_ = json.Unmarshal(body.Error, &inner.Message)
	}
	if !isCode(inner.Code) {
		inner.Code = ""
	}
	return &Problem{status, inner.Code, sentence(inner.Message)}
}

var isCode = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`).MatchString

// sentence makes a text of the service safe to print, and to open in a spreadsheet.
func sentence(text string) string {
	const most = 400 // runes
	return output.Formula(strings.TrimSpace(fmt.Sprintf("%.*s", most, output.Printable(text))))
}
