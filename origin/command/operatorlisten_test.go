package command

import (
	"io"
	"net"
	"net/http"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/service"
)

var operatorAddress = regexp.MustCompile(`"operator_address":"([^"]+)"`)

// operators returns the service as its operator's listener serves it.
func (s *instance) operators(t *testing.T) *instance {
	t.Helper()
	at := operatorAddress.FindStringSubmatch(s.wholeLog(t))
	require.NotNil(t, at)
	return &instance{hostPort: at[1], log: s.log}
}

// startApart starts a service with an operator's listener.
func startApart(t *testing.T, args ...string) (public, operators *instance) {
	public = start(t, append([]string{"--operator-listen", "127.0.0.1:0"}, args...)...)
	return public, public.operators(t)
}

func TestOperatorListener(t *testing.T) {
	t.Parallel()
	public, operators := startApart(t, "--dns", contract.Serve(t))
	together := start(t, "--dns", contract.Serve(t))
	for path, want := range map[string]struct{ public, operators, together int }{
		"/healthz":            {200, 200, 200},
		"/readyz":             {404, 200, 200},
		"/metrics":            {404, 200, 200},
		"/openapi.json":       {200, 404, 200},
		"/v1/email/a@b.c":     {401, 404, 401},
		"/v1/edge/admit":      {404, 404, 404},
		"/metrics/":           {404, 404, 404},
		"/%6detrics":          {404, 404, 404},
		"//metrics":           {404, 404, 404},
		"/v1/../metrics":      {404, 404, 404},
		"/v1/email/../readyz": {401, 404, 401},
	} {
		for s, status := range map[*instance]int{public: want.public, operators: want.operators, together: want.together} {
			response, body := s.send(t, http.MethodGet, path, "", "", nil)
			require.Equal(t, status, response.StatusCode, "%s: %s", path, body)
			require.NotEmpty(t, response.Header.Get("X-Request-Id"))
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodHead, http.MethodOptions} {
		response, _ := public.send(t, method, "/metrics", "", "", nil)
		require.Equal(t, http.StatusNotFound, response.StatusCode, "the response does not reveal that the path exists")
		response, _ = operators.send(t, http.MethodDelete, "/metrics", "", "", nil)
		require.Equal(t, http.StatusMethodNotAllowed, response.StatusCode)
	}
	_, body := operators.send(t, http.MethodGet, "/v1/emails", "", "", nil)
	require.Contains(t, body, `"code":"NOT_FOUND"`)
	require.Contains(t, body, "it has GET /metrics")
}

// While the service stops, /readyz on the operator's listener is 503.
func TestOperatorListenerDuringStop(t *testing.T) {
	t.Parallel()
	dns := mxtest.New(t, contract.Zone)
	dns.Respond("silent.example", mxtest.Silent)
	public, operators := startApart(t, "--dns", dns.Addr, "--dns-timeout", "20s", "--grace", "30s")
	key := public.newKey(t)
	succeeded := make(chan int)
	go func() {
		response, _ := public.send(t, http.MethodGet, "/v1/email/a@silent.example", key, "", nil)
		succeeded <- response.StatusCode
	}()
	require.Eventually(t, func() bool { return dns.Asked("silent.example") > 0 }, hung, time.Millisecond)
	status, _, err := operators.get("", "/readyz")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	public.stop()
	require.Eventually(t, func() bool {
		status, _, err := operators.get("", "/readyz")
		return err == nil && status == http.StatusServiceUnavailable
	}, hung, 10*time.Millisecond)
	dns.Respond("silent.example", mxtest.Answer)
	require.Equal(t, http.StatusOK, <-succeeded)
	public.requireStopped(t)
	_, _, err = operators.get("", "/healthz")
	require.Error(t, err)
}

// Connections to the operator's listener are limited separately.
func TestOperatorListenerIsBounded(t *testing.T) {
	t.Parallel()
	public, operators := startApart(t, "--dns", contract.Serve(t))
	var ended atomic.Int64
	for range 4 * service.OperatorConnections {
		conn, err := net.Dial("tcp", operators.hostPort)
		require.NoError(t, err)
		defer conn.Close()
		io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		go func() { io.Copy(io.Discard, conn); ended.Add(1) }()
	}
	// Without the limit all would stay open for the minute of the idle timeout.
	require.Eventually(t, func() bool { return ended.Load() >= 3*service.OperatorConnections }, hung, 10*time.Millisecond)
	public.requireHealthy(t)
}
