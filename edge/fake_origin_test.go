package edge_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A misbehaviour handles a connection in place of the origin, after the request was
// read. The connection is then closed.
type misbehaviour func(net.Conn)

// startFakeOrigin serves misbehaviours until the test ends and returns its URL. A
// request selects one by X-Request-Id, which a worker forwards.
func startFakeOrigin(t testing.TB, all map[string]misbehaviour) string {
	t.Helper()
	return listenTCP(t, func(conn net.Conn) { misbehave(conn, all) })
}

// listenTCP calls serve for each connection until the test ends, and returns the
// URL of the listener. It closes a connection when serve returns.
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

// sends sends these bytes.
func sends(bytes string) misbehaviour {
	return func(conn net.Conn) { io.WriteString(conn, bytes) }
}

const usageHeaders = "X-Usage-Current: 1\r\nX-Usage-Limit: 1000\r\n"

// responds sends a well-formed response with a JSON body.
func responds(status int, headers, body string) misbehaviour {
	return sends(fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), headers, len(body), body))
}

// stalls sends these bytes, and then nothing until the worker gives up.
func stalls(bytes string) misbehaviour {
	return func(conn net.Conn) {
		io.WriteString(conn, bytes)
		io.Copy(io.Discard, conn)
	}
}

// floods sends a body that never ends.
func floods(conn net.Conn) {
	io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"+usageHeaders+"\r\n")
	for chunk := strings.Repeat("[", 64<<10); ; {
		if _, err := io.WriteString(conn, chunk); err != nil {
			return
		}
	}
}

// misbehaviours are of the network, and of statuses that fetch treats in its own way. origin.test.ts
// and worker.test.ts have wrong replies.
var misbehaviours = map[string]misbehaviour{
	"hangs-up":         func(net.Conn) {},
	"no-HTTP":          sends("SSH-2.0-OpenSSH_9.2\r\n"),
	"stalls":           stalls(""),
	"stalls-in-header": stalls("HTTP/1.1 200 OK\r\nContent-Ty"),
	"stalls-in-body":   stalls("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + usageHeaders + "Content-Length: 100\r\n\r\n{\"mx\":[tr"),
	"cut-off":          sends("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + usageHeaders + "Content-Length: 100\r\n\r\n{\"mx\":[tr"),
	"floods":           floods,
	"HTML":             sends("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + usageHeaders + "Content-Length: 4\r\n\r\n<p>\n"),
	"no-JSON":          responds(200, usageHeaders, `{"mx":[true]`),
	"redirect":         responds(302, "Location: http://192.0.2.1/\r\n", `{}`),
	"502-of-a-proxy":   sends("HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n"),
	"no-content":       sends("HTTP/1.1 204 No Content\r\n\r\n"),
}
