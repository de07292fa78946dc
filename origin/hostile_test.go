package main

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

	"github.com/addrspec/addrspec/origin/contract"
)

// What is not well-formed HTTP gets an answer of the contract all the same, and
// the service goes on.
func TestMalformedHTTPIsAnsweredInShapeA(t *testing.T) {
	s := start(t, "--dns", contract.Serve(t))
	for name, c := range map[string]struct {
		request string
		status  int
	}{
		"percent without digits": {"GET /v1/email/a%ZZ@mail.example HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		"NUL in the target":      {"GET /v1/email/a\x00@mail.example HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		"not HTTP at all":        {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", 400},
		"no host":                {"GET / HTTP/1.1\r\n\r\n", 400},
		"huge header":            {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", 431},
		"unknown encoding":       {"POST /v1/emails HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: odd\r\n\r\n", 501},
		"two lengths":            {"POST /v1/emails HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
	} {
		t.Run(name, func(t *testing.T) {
			response, body := exchange(t, s.hostPort, c.request)
			require.Equal(t, c.status, response.StatusCode, body)
			require.Equal(t, "application/json", response.Header.Get("Content-Type"))
			require.NotEmpty(t, response.Header.Get("X-Request-Id"))
			require.Contains(t, body, fmt.Sprintf(`{"status":%d,"error":"`, c.status))
		})
	}
	require.Equal(t, http.StatusOK, get(t, "http://"+s.hostPort+"/healthz"))
}

// A request that breaks off, or comes too slowly, holds no connection for good
// and charges nothing.
func TestHalfSentRequestsEnd(t *testing.T) {
	s := start(t, "--dns", contract.Serve(t))
	key := s.newKey(t)
	for name, half := range map[string]string{
		"within the header": "POST /v1/emails HTTP/1.1\r\nHost: x\r\nX-API-K",
		"within the body":   "POST /v1/emails HTTP/1.1\r\nHost: x\r\nX-API-Key: " + key + "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"emails\":[\"a@mail",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", s.hostPort)
			require.NoError(t, err)
			io.WriteString(conn, half)
			require.NoError(t, conn.(*net.TCPConn).CloseWrite())
			conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			_, err = io.ReadAll(conn)
			require.NoError(t, err, "the connection stays open")
		})
	}
	require.Zero(t, s.used(t), "points charged")
	require.Equal(t, http.StatusOK, get(t, "http://"+s.hostPort+"/healthz"))
}

func exchange(t *testing.T, hostPort, request string) (*http.Response, string) {
	conn, err := net.Dial("tcp", hostPort)
	require.NoError(t, err)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	go io.WriteString(conn, request)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(body)
}

func get(t *testing.T, url string) int {
	response, err := http.Get(url)
	require.NoError(t, err)
	response.Body.Close()
	return response.StatusCode
}
