package command

import (
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
)

// SIGTERM ends serve with 0 after each request in progress got its response.
func TestStopReturnsPartialBatch(t *testing.T) {
	t.Parallel()
	dns := mxtest.New(t, contract.Zone)
	dns.Respond("silent.example", mxtest.Silent)
	s := start(t, "--dns", dns.Addr, "--dns-timeout", "20s", "--batch-timeout", "20s")
	key := s.newKey(t)
	_, first, err := s.post(key, []string{"b@mail.example"}) // later its domain is in the cache
	require.NoError(t, err)
	require.Equal(t, 1, first.Points)
	hits := s.metric(t, "addrspec_mx_cache_hits_total")
	response := make(chan envelope)
	go func() {
		_, e, _ := s.post(key, []string{"a@silent.example", "b@mail.example"})
		response <- e
	}()
	require.Eventually(t, func() bool {
		return dns.Asked("silent.example") > 0 && s.metric(t, "addrspec_mx_cache_hits_total") > hits
	}, hung, time.Millisecond)
	s.stop()
	e := <-response
	require.True(t, e.Success && e.Partial)
	require.Equal(t, 1, e.Points)
	s.requireStopped(t)
	require.EqualValues(t, 2, s.used(t))
}

// A connection on which no request has begun is not cut off, although
// http.Server.Shutdown waits for it longer than this grace.
func TestStopWithUnusedConnection(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	dns := mxtest.New(t, contract.Zone)
	dns.Respond("silent.example", mxtest.Silent)
	s := start(t, "--dns", dns.Addr, "--dns-timeout", "20s", "--grace", "2s")
	key := s.newKey(t)
	status := make(chan int)
	go func() {
		response, _ := s.send(t, http.MethodGet, "/v1/email/a@silent.example", key, "", nil)
		status <- response.StatusCode
	}()
	require.Eventually(t, func() bool { return dns.Asked("silent.example") > 0 }, hung, time.Millisecond)
	s.stop()
	require.Equal(t, http.StatusServiceUnavailable, <-status)
	s.requireStopped(t)
	require.Zero(t, s.used(t))
}
