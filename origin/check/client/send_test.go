package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestURL(t *testing.T) {
	for text, exposed := range map[string]bool{
		"https://addrspec.example": false, "https://addrspec.example:8443/api/": false, "http://addrspec.example": true,
		"http://127.0.0.1:8080": false, "http://[::1]:8080": false, "http://localhost": false, "http://192.0.2.1": true, "http://[::ffff:127.0.0.1]": false,
	} {
		c, err := New(Config{URL: text, Key: testKey})
		require.NoError(t, err, text)
		require.Equal(t, exposed, c.Exposed(), text)
	}
	for _, text := range []string{"", "addrspec.example", "addrspec.example:8080", "ftp://addrspec.example", "https://", "https:///v1", "/v1",
		"https://user:hunter2@addrspec.example", "https://addrspec.example/?key=hunter2", "https://addrspec.example/#x", "https://addrspec.example\x00", "http://[::1"} {
		_, err := New(Config{URL: text, Key: testKey})
		require.ErrorContains(t, err, "the URL of the service", text)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

// The key is sent to the configured service only.
func TestRedirectIsNotFollowed(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		service := httptest.NewServer(http.RedirectHandler(other.URL+"/v1/usage?x", status))
		c, err := New(Config{URL: service.URL, Key: testKey})
		require.NoError(t, err)
		_, err = c.Usage(context.Background())
		require.ErrorContains(t, err, "redirects to "+other.URL+"/v1/usage?x, which")
		service.Close()
	}
	require.Zero(t, elsewhere.Load())
}

// A certificate that is not valid is an error after one connection.
func TestUnknownAuthority(t *testing.T) {
	var connections atomic.Int64
	service := httptest.NewUnstartedServer(http.NotFoundHandler())
	service.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	service.StartTLS()
	defer service.Close()
	c, err := New(Config{URL: service.URL, Key: testKey})
	require.NoError(t, err)
	_, err = c.Usage(context.Background())
	require.ErrorContains(t, err, "certificate")
	require.NotContains(t, err.Error(), "attempts")
	require.EqualValues(t, 1, connections.Load())
}

// An error of net/http has the URL, in which an address is. It is not shown.
func TestErrorsContainNoAddress(t *testing.T) { synctest.Test(t, testErrorsContainNoAddress) }

func testErrorsContainNoAddress(t *testing.T) {
	c, err := New(Config{URL: "http://127.0.0.1:1", Key: testKey})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err = c.exchange(ctx, "v1/email/canary@mail.example", nil)
	require.ErrorContains(t, err, "refused")
	require.NotContains(t, err.Error(), "canary")
	require.NotContains(t, err.Error(), testKey)
}

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

// What the service asks for is waited, and a little more. Longer than a person would wait is an error at once.
func TestRetryAfter(t *testing.T) {
	for seconds, requests := range map[string]int{"7": 2, "86400": 1} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			c, f := newFake(t, func(s seen) (*http.Response, error) {
				if s.number == 1 {
					return response(429, busyBody, "Retry-After: "+seconds)
				}
				return checked(s)
			})
			_, err := check(t.Context(), c, emails(1))
			require.Len(t, f.requests, requests)
			if requests == 1 {
				require.ErrorContains(t, err, "24h0m0s")
				require.Zero(t, time.Since(begin))
				return
			}
			require.NoError(t, err)
			require.InDelta(t, 7.125, time.Since(begin).Seconds(), 0.126, "as asked, and up to a quarter of a second more")
		})
	}
}

func TestRefusalsAreNotRetried(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 405, 413, 415, 422, 418} {
		c, f := newFake(t, func(seen) (*http.Response, error) {
			return response(status, `{"success":false,"error":{"code":"SOME_CODE","message":"What is wrong."}}`)
		})
		_, err := check(t.Context(), c, emails(1))
		require.Len(t, f.requests, 1, "status %d", status)
		require.ErrorContains(t, err, "SOME_CODE: What is wrong.")
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
