package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A request after the server closed the idle connection is sent on a new one, and one
// whose connection is closed instead of a response is cut.
func TestClientOfClosedConnection(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	c := &client{address: server.Listener.Addr().String(), keepAlive: true}
	require.Equal(t, answered, c.send(single("jane@example.org")).kind)
	first := c.conn
	server.CloseClientConnections()
	require.Eventually(t, func() bool { return closedByServer(first) }, 2*time.Minute, time.Millisecond)
	require.Equal(t, answered, c.send(single("jane@example.org")).kind)
	require.NotSame(t, first, c.conn)
	require.Equal(t, cut, c.send(batchOf(2, 1)).kind)

	server.Close()
	require.Eventually(t, func() bool { return c.send(single("jane@example.org")).kind == refused }, 2*time.Minute, time.Millisecond)
}
