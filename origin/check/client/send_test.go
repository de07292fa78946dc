package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What may pass is tried again, with the same Idempotency-Key and body, until the response is there.
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
				items, err := check(t.Context(), c, emails(3))
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
		_, err := check(t.Context(), c, emails(1))
		require.NoError(t, err)
		require.InDelta(t, 7.125, time.Since(begin).Seconds(), 0.126, "as asked, and up to a quarter of a second more")
	})
}

// A service that asks to wait longer than a person would is an error at once.
func TestLongRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		c, f := newFake(t, func(seen) (*http.Response, error) { return response(503, downBody, "Retry-After: 86400") })
		_, err := check(t.Context(), c, emails(1))
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
		_, err := check(t.Context(), c, emails(1))
		require.Error(t, err)
		require.Len(t, f.requests, 1, "status %d", status)
		if status >= 400 {
			require.ErrorContains(t, err, "SOME_CODE: What is wrong.")
		} else {
			require.ErrorContains(t, err, "redirects to https://elsewhere.test")
		}
	}
}

// Attempts end after two minutes, or with the context.
func TestGivesUp(t *testing.T) {
	for name, c := range map[string]struct {
		respond  func() (*http.Response, error)
		attempts int
		within   time.Duration
	}{
		"unreachable": {func() (*http.Response, error) { return nil, errors.New("connection refused") }, 120, patience},
		"503":         {func() (*http.Response, error) { return response(503, downBody, "Retry-After: 1") }, 120, patience},
		"429":         {func() (*http.Response, error) { return response(429, busyBody, "Retry-After: 3") }, 120, patience},
		"500":         {func() (*http.Response, error) { return response(500, "") }, 30, patience},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, f := newFake(t, func(seen) (*http.Response, error) { return c.respond() })
				begin := time.Now()
				_, err := check(t.Context(), client, emails(1))
				require.ErrorContains(t, err, fmt.Sprintf("gave up after %d attempts, as the next would be ", len(f.requests)))
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
		_, err := check(ctx, c, emails(1))
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, 10*time.Second, time.Since(begin))
	})
}

// The first error of a run is that of its later batches, which are not sent. No refusal for points is tried again.
func TestFirstErrorEndsTheRun(t *testing.T) {
	c, f := newFake(t, func(s seen) (*http.Response, error) {
		if s.number == 1 {
			return response(402, `{"success":false,"error":{"code":"INSUFFICIENT_USAGE",
				"message":"The batch needs 64 usage points and 12 are left this month.","required":64,"remaining":12}}`)
		}
		return checked(s)
	})
	checker := &Checker{Client: c}
	for range 2 {
		_, err := checkWith(t.Context(), checker, emails(64))
		require.EqualError(t, err, "the service refused the request with status 402 INSUFFICIENT_USAGE: "+
			"The batch needs 64 usage points and 12 are left this month.")
		require.Len(t, f.requests, 1)
	}
	_, err := check(t.Context(), c, emails(1))
	require.NoError(t, err, "another call is not concerned")
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
		_, err := check(t.Context(), c, emails(20*MaxBatch))
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
	c, err := New(Config{URL: "https://addrspec.test", Key: testKey, Transport: &http.Transport{Proxy: http.ProxyURL(at)}})
	require.NoError(t, err)
	got, err := c.exchange(t.Context(), "v1/usage", nil)
	require.ErrorContains(t, err, "\x1b[2Jno")
	_, err = c.judge(got, err)
	require.ErrorContains(t, err, "cannot reach the service at addrspec.test: \uFFFD[2Jno; check")
	_, err = c.judge(reply{status: 302, header: http.Header{"Location": {"https://a\u202eb.example/"}}}, nil)
	require.ErrorContains(t, err, "redirects to https://a\uFFFDb.example/, which")
	require.Equal(t, "'=cmd\uFFFDx", sentence(" =cmd\nx"))
}
