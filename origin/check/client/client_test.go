package client

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
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

// What a request has besides its body.
func TestRequest(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "/api/v1/usage", r.URL.EscapedPath())
		require.Equal(t, testKey, r.Header.Get("X-API-Key"))
		require.Equal(t, "addrspec/1.0", r.Header.Get("User-Agent"))
		require.Equal(t, "HTTP/1.1", r.Proto)
		_, _ = w.Write([]byte(`{"points":{"remaining":2,"refill":"2026-12-01T00:00:00Z"}}`))
	}))
	defer service.Close()
	c, err := New(Config{URL: service.URL + "/api/", Key: testKey, Agent: "addrspec/1.0"})
	require.NoError(t, err)
	usage, err := c.Usage(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, 2, *usage.Points.Remaining)
}
