package outgoing

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A client returns a redirect as it is, refuses a long header, and keeps as many connections as
// it is to. Package webhook tests what hostile servers do, and the proxy.
func TestNew(t *testing.T) {
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			w.Header().Set("X", strings.Repeat("x", mostHeader))
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	for _, c := range []struct {
		idle int
		want int64
	}{{1, 1}, {0, 3}} {
		client := New(Options{Timeout: time.Minute, Idle: c.idle, Direct: true})
		connections.Store(0)
		for range 3 {
			response, err := client.Get(server.URL)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, http.StatusTemporaryRedirect, response.StatusCode)
		}
		require.Equal(t, c.want, connections.Load())
		_, err := client.Get(server.URL + "/long")
		require.ErrorContains(t, err, "exceeded")
	}
}
