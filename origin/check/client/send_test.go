package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What may pass is tried again, with the same Idempotency-Key and body, until the
// response is there.
func TestRetries(t *testing.T) {
	reset := errors.New("connection reset by peer")
	for name, first := range map[string]func() (*http.Response, error){
		"connection": func() (*http.Response, error) { return nil, reset },
		"cut off": func() (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF))}, nil
		},
		"429":            func() (*http.Response, error) { return response(429, busyBody, "Retry-After: 3") },
		"429 of a proxy": func() (*http.Response, error) { return response(429, "<html>") },
		"503":            func() (*http.Response, error) { return response(503, downBody, "Retry-After: 1") },
		"502 of a proxy": func() (*http.Response, error) { return response(502, "<html>") },
		"504":            func() (*http.Response, error) { return response(504, "") },
		"500": func() (*http.Response, error) {
			return response(500, `{"status":500,"error":"x","code":"INTERNAL_ERROR"}`)
		},
		"409, in progress": func() (*http.Response, error) {
			return response(409, `{"success":false,"error":{"code":"IDEMPOTENCY_CONFLICT"}}`)
		},
		"Retry-After bad": func() (*http.Response, error) { return response(503, "", "Retry-After: Sat, 01 Jan 2028 00:00:00 GMT") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, f := newFake(t, func(s seen) (*http.Response, error) {
					if s.number <= 2 {
						return first()
					}
					return checked(s)
				})
				items, err := c.Batch(context.Background(), emails(3), Options{})
				require.NoError(t, err)
				require.Len(t, items, 3)
				require.Len(t, f.requests, 3)
				for _, r := range f.requests {
					require.Equal(t, f.requests[0].idempotency, r.idempotency)
					require.Equal(t, f.requests[0].body, r.body)
				}
			})
		})
	}
}

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		c, _ := newFake(t, func(s seen) (*http.Response, error) {
			if s.number == 1 {
				return response(429, busyBody, "Retry-After: 7")
			}
			return checked(s)
		})
		_, err := c.Batch(context.Background(), emails(1), Options{})
		require.NoError(t, err)
		require.InDelta(t, 7.125, time.Since(begin).Seconds(), 0.126, "as asked, and up to a quarter of a second more")
	})
}

// A service that asks to wait longer than a person would is an error at once.
func TestLongRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		c, f := newFake(t, func(seen) (*http.Response, error) { return response(503, downBody, "Retry-After: 86400") })
		_, err := c.Batch(context.Background(), emails(1), Options{})
		require.ErrorContains(t, err, "24h0m0s")
		require.Len(t, f.requests, 1)
		require.Zero(t, time.Since(begin))
	})
}

func TestRefusalsAreNotRetried(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 405, 413, 415, 422, 418, 301, 307} {
		c, f := newFake(t, func(seen) (*http.Response, error) {
			return response(status, `{"success":false,"error":{"code":"SOME_CODE","message":"What is wrong."}}`, "Location: https://elsewhere.test/v1/emails")
		})
		_, err := c.Batch(context.Background(), emails(1), Options{})
		require.Error(t, err)
		require.Len(t, f.requests, 1, "status %d", status)
		if status >= 400 {
			require.ErrorContains(t, err, "SOME_CODE: What is wrong.")
		} else {
			require.ErrorContains(t, err, "redirects to https://elsewhere.test")
		}
	}
}

// Attempts end after two minutes, after 30, or with the context; a defect of the
// service after three.
func TestGivesUp(t *testing.T) {
	for name, c := range map[string]struct {
		respond  func() (*http.Response, error)
		attempts int
		within   time.Duration
	}{
		"unreachable": {func() (*http.Response, error) { return nil, errors.New("connection refused") }, maxAttempts, patience},
		"503":         {func() (*http.Response, error) { return response(503, downBody, "Retry-After: 1") }, maxAttempts, patience},
		"429":         {func() (*http.Response, error) { return response(429, busyBody, "Retry-After: 3") }, maxAttempts, patience},
		"500":         {func() (*http.Response, error) { return response(500, "") }, maxDefects, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, f := newFake(t, func(seen) (*http.Response, error) { return c.respond() })
				begin := time.Now()
				_, err := client.Batch(context.Background(), emails(1), Options{})
				require.ErrorContains(t, err, fmt.Sprintf("gave up after %d attempts", len(f.requests)))
				require.LessOrEqual(t, len(f.requests), c.attempts)
				require.Greater(t, len(f.requests), 2)
				require.LessOrEqual(t, time.Since(begin), c.within)
			})
		})
	}
}

func TestCancelEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newFake(t, func(seen) (*http.Response, error) { return response(503, downBody, "Retry-After: 30") })
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(10*time.Second, cancel)
		begin := time.Now()
		_, err := c.Batch(ctx, emails(1), Options{})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, 10*time.Second, time.Since(begin))
	})
}

// Points used up end a batch, with what is left and when they refill.
func TestOutOfPoints(t *testing.T) {
	const body = `{"success":false,"error":{"code":"INSUFFICIENT_USAGE","message":"The batch needs 64 usage points and 12 are left this month.","required":64,"remaining":12}}`
	c, f := newFake(t, func(s seen) (*http.Response, error) {
		if strings.HasSuffix(s.path, "/v1/usage") {
			return checked(s)
		}
		return response(402, body)
	})
	_, err := c.Batch(context.Background(), emails(64), Options{})
	require.EqualError(t, err, "too few usage points are left this month: 10, and the next batch needs 64; they refill on 1 Dec 2026, 00:00 UTC")
	require.Len(t, f.requests, 2)

	c, f = newFake(t, func(s seen) (*http.Response, error) {
		return response(402, `{"success":false,"error":{"code":"INSUFFICIENT_USAGE","message":"No points are left.","required":1,"remaining":0}}`)
	})
	_, err = c.Batch(context.Background(), emails(1), Options{})
	require.EqualError(t, err, "the month's usage points are used up; they refill with the next month (UTC)")
	require.Len(t, f.requests, 2, "no refusal for points is tried again")
}

// The first error of a run is that of its later batches, which are not sent.
func TestOneRun(t *testing.T) {
	for _, oneRun := range []bool{false, true} {
		c, f := newFake(t, func(s seen) (*http.Response, error) {
			if s.number == 1 {
				return response(401, `{"status":401,"error":"No.","code":"INVALID_API_KEY"}`)
			}
			return checked(s)
		})
		c.oneRun = oneRun
		_, first := c.Batch(context.Background(), emails(1), Options{})
		require.Error(t, first)
		_, second := c.Batch(context.Background(), emails(1), Options{})
		if oneRun {
			require.Equal(t, first, second)
			require.Len(t, f.requests, 1)
		} else {
			require.NoError(t, second)
		}
	}
}

// Requests keep the account's rate once a response has it.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last time.Time
		c, f := newFake(t, func(s seen) (*http.Response, error) {
			if s.number > 2 {
				require.GreaterOrEqual(t, time.Since(last), time.Second)
			}
			last = time.Now()
			got, err := checked(s)
			got.Header.Set("RateLimit-Policy", `"rate";q=1;w=1, "points";q=1000;qu="points"`)
			return got, err
		})
		begin := time.Now()
		_, err := c.Batch(context.Background(), emails(20*maxBatch), Options{})
		require.NoError(t, err)
		require.Len(t, f.requests, 20)
		require.InDelta(t, 19/slower, time.Since(begin).Seconds(), 1.5, "and not much slower")
	})
}

// The reason of a proxy, the host of a redirect and a sentence of the service cannot control a
// terminal, nor be a formula.
func TestErrorsAreSafeToPrint(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if connection, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_, _ = io.WriteString(connection, "HTTP/1.1 407 \x1b[2Jno\r\n\r\n")
			_ = connection.Close()
		}
	}))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	c, err := New(Config{URL: "https://addrspec.test", Key: testKey, transport: &http.Transport{Proxy: http.ProxyURL(at)}})
	require.NoError(t, err)
	got, err := c.exchange(t.Context(), &request{method: http.MethodGet, path: "/v1/usage"})
	require.ErrorContains(t, err, "\x1b[2Jno")
	_, err = c.judge(got, err)
	require.ErrorContains(t, err, "cannot reach the service at addrspec.test: [2Jno; check")
	_, err = c.judge(reply{status: 302, header: http.Header{"Location": {"https://a%E2%80%AEb.example/"}}}, nil)
	require.ErrorContains(t, err, "redirects to https://a b.example, which")
	require.Equal(t, "'=cmd x", sentence("\x1b=cmd\nx"))
}
