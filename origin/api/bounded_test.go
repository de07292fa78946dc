package api

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// With a limit of one connection the second one gets 503 in shape A, and there
// is room again once the first is closed.
func TestBoundedRefuses(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") })}
	go server.Serve(Bounded(inner, 1))
	defer server.Close()
	ask := func() (net.Conn, *http.Response) {
		c, err := net.Dial("tcp", inner.Addr().String())
		require.NoError(t, err)
		c.SetDeadline(time.Now().Add(10 * time.Second))
		io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		return c, response
	}
	first, response := ask()
	require.Equal(t, http.StatusOK, response.StatusCode)

	second, response := ask()
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.Equal(t, "1", response.Header.Get("Retry-After"))
	require.Equal(t, "application/json", response.Header.Get("Content-Type"))
	require.NotEmpty(t, response.Header.Get("X-Request-Id"))
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), `{"status":503,"error":"The service has as many connections`)
	require.Contains(t, string(body), `"code":"REQUEST_CANCELLED"`)
	second.Close()

	first.Close()
	require.Eventually(t, func() bool {
		c, response := ask()
		defer c.Close()
		return response.StatusCode == http.StatusOK
	}, 5*time.Second, 10*time.Millisecond)
}
