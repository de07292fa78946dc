package command

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
)

const lookUpsWillFail = "MX lookups will fail"

// A silent resolver delays neither the start nor requests; the log and a metric
// report it.
func TestStartDoesNotWaitForResolver(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	s := start(t, "--dns", silent.LocalAddr().String())
	ready, _ := s.send(t, http.MethodGet, "/readyz", "", "", nil)
	require.Equal(t, http.StatusOK, ready.StatusCode)
	require.False(t, s.log.Contains(lookUpsWillFail), "the probe must not be over yet")
	_, metrics := s.send(t, http.MethodGet, "/metrics", "", "", nil)
	require.Contains(t, metrics, "\naddrspec_mx_resolver_answered 0\n")
	require.Eventually(t, func() bool { return s.log.Contains(lookUpsWillFail) }, hung, 20*time.Millisecond)
}

func TestResolverThatRespondsIsInMetrics(t *testing.T) {
	t.Parallel()
	s := start(t, "--dns", contract.Serve(t))
	require.Eventually(t, func() bool {
		_, metrics := s.send(t, http.MethodGet, "/metrics", "", "", nil)
		return strings.Contains(metrics, "\naddrspec_mx_resolver_answered 1\n")
	}, hung, 20*time.Millisecond)
	require.False(t, s.log.Contains(lookUpsWillFail))
}
