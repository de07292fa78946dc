package contract

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// timeout bounds an exchange; the slowest case waits for a silent resolver.
const timeout = 30 * time.Second

// send writes the request on a connection of its own: a client library would
// normalize the targets that the cases are about.
func (r *Request) send(t *testing.T, hostPort, key string) (int, http.Header, []byte) {
	conn, err := net.DialTimeout("tcp", hostPort, timeout)
	require.NoError(t, err)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(timeout))
	go io.WriteString(conn, r.wire(hostPort, key)) // a 413 may come before all is written
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: r.method()})
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, response.Header, body
}

func (r *Request) method() string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

// wire is the request in HTTP/1.1 (RFC 9112).
func (r *Request) wire(hostPort, key string) string {
	body := strings.Replace(r.Body, "{fill}", strings.Repeat(r.Fill, r.Times), 1)
	var w strings.Builder
	target := strings.Replace(r.Target, "{fill}", strings.Repeat(r.Fill, r.Times), 1)
	fmt.Fprintf(&w, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", r.method(), target, hostPort)
	for name, value := range r.headers() {
		for line := range strings.SplitSeq(strings.ReplaceAll(value, "{key}", key), "\n") {
			fmt.Fprintf(&w, "%s: %s\r\n", name, line)
		}
	}
	if body != "" || r.method() == http.MethodPost {
		fmt.Fprintf(&w, "Content-Length: %d\r\n", len(body))
	}
	w.WriteString("\r\n" + body)
	return w.String()
}

// headers adds the key and the media type of a body if the case names none; a
// header with an empty value is left out.
func (r *Request) headers() map[string]string {
	all := map[string]string{"X-API-Key": "{key}"}
	if r.method() == http.MethodPost {
		all["Content-Type"] = "application/json"
	}
	if _, ok := r.Headers["Authorization"]; ok {
		delete(all, "X-API-Key")
	}
	for name, value := range r.Headers {
		if all[name] = value; value == "" {
			delete(all, name)
		}
	}
	return all
}

// checkHeaders checks the headers of every answer and those of this one.
func (a *Answer) checkHeaders(t *testing.T, name string, got http.Header) {
	want := map[string]string{"Content-Type": "application/json", "X-Request-Id": "~^[A-Za-z0-9._:-]+$", "Cache-Control": "~no-store"}
	for header, value := range a.Headers {
		want[header] = value
	}
	for header, value := range want {
		if pattern, ok := strings.CutPrefix(value, "~"); ok {
			require.Regexp(t, regexp.MustCompile(pattern), got.Get(header), "%s: %s", name, header)
			continue
		}
		require.Equal(t, value, got.Get(header), "%s: %s", name, header)
	}
}
