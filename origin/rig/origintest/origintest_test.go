package origintest_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

func TestRequestText(t *testing.T) {
	r := origintest.Request{Method: "POST", Target: "/v1/emails", Header: []string{"A: b"}, Body: "{}"}
	require.Equal(t, "POST /v1/emails HTTP/1.1\r\nHost: x\r\nConnection: close\r\nA: b\r\nContent-Length: 2\r\n\r\n{}", r.Text("x"))
	r = origintest.Request{Method: "GET", Target: "/%zz", KeepAlive: true}.With("A: b", "A: c")
	require.Equal(t, "GET /%zz HTTP/1.1\r\nHost: x\r\nA: b\r\nA: c\r\n\r\n", r.Text("x"))
	r = origintest.Request{Method: "POST", Target: "/", Body: "0\r\n\r\n", Chunked: true, KeepAlive: true}
	require.Equal(t, "POST / HTTP/1.1\r\nHost: x\r\n\r\n0\r\n\r\n", r.Text("x"))
}

// Each test has a database of its own, which is gone when the test ends.
func TestNewDatabase(t *testing.T) {
	var first string
	t.Run("a test", func(t *testing.T) {
		first = strings.TrimPrefix(origintest.NewDatabase(t), "sqlite:")
		require.NotEqual(t, "sqlite:"+first, origintest.NewDatabase(t))
		require.NoError(t, os.WriteFile(first, nil, 0o600))
	})
	require.NoDirExists(t, filepath.Dir(first))
}

// A response that arrives before the request is written ends the exchange.
func TestExchangeReadsAnEarlyResponse(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
	}()
	long := origintest.Request{Method: "POST", Target: "/", Body: string(make([]byte, 32<<20))}
	response, body := origintest.Exchange(t, listener.Addr().String(), long.Text("x"), 2*time.Minute)
	require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
	require.Equal(t, "no", body)
}

func TestProcess(t *testing.T) {
	start := func(script string, log *origintest.Log) (*origintest.Process, error) {
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Stderr = log
		return origintest.Start(cmd, origintest.OnStdout)
	}
	var log origintest.Log
	p, err := start(`trap 'echo bye >&2; exit 0' TERM; echo listens on http://127.0.0.1:80; while :; do sleep 0.01; done`, &log)
	require.NoError(t, err)
	address, err := origintest.AddressIn(p.FirstLine)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:80", address)
	require.NoError(t, p.Terminate(2*time.Minute))
	require.True(t, log.Contains("bye"), log.String())

	p, err = start(`trap 'exit 3' TERM; echo; while :; do sleep 0.01; done`, &log)
	require.NoError(t, err)
	require.ErrorContains(t, p.Terminate(2*time.Minute), "code 3")

	p, err = start(`trap '' TERM; echo; while :; do sleep 0.01; done`, &log)
	require.NoError(t, err)
	require.ErrorContains(t, p.Terminate(50*time.Millisecond), "still ran")

	_, err = start("exit 0", &log)
	require.ErrorContains(t, err, "ended before its first line")
}

func TestAddressIn(t *testing.T) {
	for _, line := range []string{"", "no address", "http://", "http://127.0.0.1"} {
		_, err := origintest.AddressIn(line)
		require.ErrorContains(t, err, "no address", line)
	}
}
