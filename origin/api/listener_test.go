package api

import (
	"bytes"
	"net"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// sink is a connection that stores what is written to it.
type sink struct {
	net.Conn
	written bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) { return s.written.Write(p) }

func TestProtocolErrorsAreReplaced(t *testing.T) {
	for name, c := range map[string]struct {
		written  string
		replaced bool
	}{
		"an error of net/http":       {"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request", true},
		"too large a header":         {"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n431", true},
		"an answer from a handler":   {"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n\r\n{}", false},
		"a body that looks like one": {"{\"email\":\"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n\"}", false},
		"a continue":                 {"HTTP/1.1 100 Continue\r\n\r\n", false},
		"nothing":                    {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			var s sink
			n, err := (&conn{Conn: &s, limiter: newConnLimiter(1, NewMetrics(prometheus.NewRegistry()))}).Write([]byte(c.written))
			require.NoError(t, err)
			require.Equal(t, len(c.written), n, "Write must report all bytes as written")
			require.Equal(t, c.replaced, s.written.String() != c.written)
			if c.replaced {
				require.Contains(t, s.written.String(), "Content-Type: application/json")
				require.Contains(t, s.written.String(), `"code":"BAD_REQUEST"`)
			}
		})
	}
}
