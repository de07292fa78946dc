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

// A misbehaviour is what an origin does with a connection once it has read the
// request; the connection is closed after.
type misbehaviour func(net.Conn)

// startFakeOrigin serves misbehaviours, chosen by X-Request-Id, which a worker
// passes on; the result is its URL.
func startFakeOrigin(t testing.TB, all map[string]misbehaviour) string {
	t.Helper()
	return listenTCP(t, func(conn net.Conn) { misbehave(conn, all) })
}

// listenTCP serves each connection, which it closes after, until the test ends;
// the result is the URL.
func listenTCP(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

func misbehave(conn net.Conn, all map[string]misbehaviour) {
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	io.Copy(io.Discard, request.Body)
	if do := all[request.Header.Get("X-Request-Id")]; do != nil {
		do(conn)
	}
}

// says answers with these bytes.
func says(bytes string) misbehaviour {
	return func(conn net.Conn) { io.WriteString(conn, bytes) }
}

const usageHeaders = "X-Usage-Current: 1\r\nX-Usage-Limit: 1000\r\n"

// answers is a well-formed answer of HTTP with a JSON body.
func answers(status int, headers, body string) misbehaviour {
	return says(fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), headers, len(body), body))
}

// stalls says something and then nothing for far longer than a worker waits.
func stalls(bytes string) misbehaviour {
	return func(conn net.Conn) {
		io.WriteString(conn, bytes)
		time.Sleep(20 * time.Second)
	}
}

// floods sends a body without end.
func floods(conn net.Conn) {
	io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"+usageHeaders+"\r\n")
	for chunk := strings.Repeat("[", 64<<10); ; {
		if _, err := io.WriteString(conn, chunk); err != nil {
			return
		}
	}
}

var misbehaviours = map[string]misbehaviour{
	"hangs-up":               func(net.Conn) {},
	"no-HTTP":                says("SSH-2.0-OpenSSH_9.2\r\n"),
	"stalls":                 stalls(""),
	"stalls-in-header":       stalls("HTTP/1.1 200 OK\r\nContent-Ty"),
	"stalls-in-body":         stalls("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + usageHeaders + "Content-Length: 100\r\n\r\n{\"mx\":[tr"),
	"cut-off":                says("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + usageHeaders + "Content-Length: 100\r\n\r\n{\"mx\":[tr"),
	"floods":                 floods,
	"HTML":                   says("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + usageHeaders + "Content-Length: 4\r\n\r\n<p>\n"),
	"no-JSON":                answers(200, usageHeaders, `{"mx":[true]`),
	"another-service":        answers(200, "", `{"ok":true}`),
	"no-usage":               answers(200, "", `{"mx":[true],"partial":false}`),
	"usage-of-words":         answers(200, "X-Usage-Current: many\r\nX-Usage-Limit: 1000\r\n", `{"mx":[true],"partial":false}`),
	"too-few-MX":             answers(200, usageHeaders, `{"mx":[],"partial":false}`),
	"too-many-MX":            answers(200, usageHeaders, `{"mx":[true,true],"partial":false}`),
	"MX-of-words":            answers(200, usageHeaders, `{"mx":["yes"],"partial":false}`),
	"MX-of-objects":          answers(200, usageHeaders, `{"mx":[{}],"partial":false}`),
	"redirect":               answers(302, "Location: http://192.0.2.1/\r\n", `{}`),
	"refuses-the-secret":     answers(403, "", `{"status":403,"error":"...","code":"INVALID_EDGE_SECRET"}`),
	"no-edge-endpoint":       answers(404, "", `{"status":404,"error":"...","code":"NOT_FOUND"}`),
	"does-not-understand":    answers(400, usageHeaders, `{"success":false,"error":{"code":"INVALID_REQUEST","message":"..."}}`),
	"401-of-another-service": answers(401, "", `{"error":"unauthorized"}`),
	"429-of-a-proxy":         says("HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n"),
	"502-of-a-proxy":         says("HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n"),
	"503-without-a-wait":     answers(503, "", `{"status":503,"error":"...","code":"REQUEST_CANCELLED"}`),
	"503-with-a-date":        answers(503, "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n", `{"status":503,"error":"...","code":"REQUEST_CANCELLED"}`),
	"no-content":             says("HTTP/1.1 204 No Content\r\n\r\n"),
}
