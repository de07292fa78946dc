package edge_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// request is sent byte for byte: a client library would mend the targets
// that the tests are about.
type request struct {
	method, target string
	headers        []string // "Name: value"
	body           string
	chunked        bool // body has the form of the chunked coding (RFC 9112 section 7.1)
}

func get(target string, headers ...string) request {
	return request{method: http.MethodGet, target: target, headers: headers}
}

// post is a batch.
func post(body string, headers ...string) request {
	return request{method: http.MethodPost, target: "/v1/emails", headers: append([]string{"Content-Type: application/json"}, headers...), body: body}
}

func (r request) with(headers ...string) request {
	r.headers = append(r.headers[:len(r.headers):len(r.headers)], headers...)
	return r
}

func (r request) wire(host string) string {
	var w strings.Builder
	fmt.Fprintf(&w, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", r.method, r.target, host)
	for _, header := range r.headers {
		w.WriteString(header + "\r\n")
	}
	if !r.chunked && (r.body != "" || r.method == http.MethodPost) {
		fmt.Fprintf(&w, "Content-Length: %d\r\n", len(r.body))
	}
	return w.String() + "\r\n" + r.body
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends r on a connection of its own.
func (p *process) send(t testing.TB, r request) answer {
	t.Helper()
	conn, err := net.DialTimeout("tcp", p.hostPort, 5*time.Second)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	go io.WriteString(conn, r.wire(p.hostPort)) // a 413 may come before all is written
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: r.method})
	require.NoError(t, err, "%.80s", r.target)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return answer{response.StatusCode, response.Header, string(body)}
}
