package main

import (
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/contract"
	"github.com/addrspec/addrspec/origin/mx/mxtest"
)

// SIGTERM ends serve with 0 after each request under way got its response.
func TestStopReturnsPartialBatch(t *testing.T) {
	dns := mxtest.New(t, contract.Zone)
	dns.Respond("silent.example", mxtest.Silent)
	s := start(t, "--dns", dns.Addr, "--dns-timeout", "20s", "--batch-timeout", "20s")
	key := s.newKey(t)
	response := make(chan envelope)
	go func() {
		_, e, _ := s.post(key, []string{"a@silent.example", "b@mail.example"})
		response <- e
	}()
	require.Eventually(t, func() bool { return dns.Asked("silent.example") > 0 && dns.Asked("mail.example") > 0 }, 5*time.Second, time.Millisecond)
	time.Sleep(50 * time.Millisecond) // for the reply about mail.example
	s.stop()
	e := <-response
	require.True(t, e.Success && e.Partial)
	require.Equal(t, 1, e.Points)
	s.requireStopped(t)
	require.EqualValues(t, 1, s.used(t))
}

// A connection on which no request has begun is not cut off, although
// http.Server.Shutdown waits for it longer than this grace.
func TestStopWithUnusedConnection(t *testing.T) {
	s := start(t, "--grace", "1s")
	conn, err := net.Dial("tcp", s.hostPort)
	require.NoError(t, err)
	defer conn.Close()
	s.requireHealthy(t) // on a later connection, so that the first is accepted
	s.stop()
	s.requireStopped(t)
}

// A single request that would take longer than the grace gets 503.
func TestStopCancelsSlowSingle(t *testing.T) {
	dns := mxtest.New(t, contract.Zone)
	dns.Respond("silent.example", mxtest.Silent)
	s := start(t, "--dns", dns.Addr, "--dns-timeout", "20s", "--grace", "2s")
	key := s.newKey(t)
	status := make(chan int)
	go func() {
		response, _ := s.send(t, http.MethodGet, "/v1/email/a@silent.example", key, "", nil)
		status <- response.StatusCode
	}()
	require.Eventually(t, func() bool { return dns.Asked("silent.example") > 0 }, 5*time.Second, time.Millisecond)
	s.stop()
	require.Equal(t, http.StatusServiceUnavailable, <-status)
	s.requireStopped(t)
	require.Zero(t, s.used(t))
}
