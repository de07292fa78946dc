package edge_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

const nextSecret = "the next secret of a test's deployment"

// The edge secret is changed under load, by the procedure of origin/deploy/rotation.md, and no
// request fails. Each step is a start of another process, as it is for an operator. Two balancers
// stay, so that the processes behind them can be replaced while requests go on.
func TestEdgeSecretIsChangedUnderLoad(t *testing.T) {
	needsNode(t)
	program, err := originProgram()
	require.NoError(t, err)
	database, dns := origintest.NewDatabase(t), contract.Serve(t)
	key := ledgertest.NewAccount(t, ledgertest.Open(t, database), "rotation@contract.test")
	origins, workers := newBalancer(t), newBalancer(t)
	startOrigin := func(secrets string) *origintest.Process {
		args := origintest.ServeArgs(t, database, "--dns", dns, "--edge-secret", secrets)
		p, err := origintest.Start(exec.Command(program, args...), origintest.OnStdout)
		require.NoError(t, err)
		t.Cleanup(p.Kill)
		at, err := origintest.AddressIn(p.FirstLine)
		require.NoError(t, err)
		origins.direct(at)
		return p
	}
	startWorker := func(secret string) (hostPort string) {
		return startWorkerd(t, "http://"+origins.hostPort, "ADDRSPEC_EDGE_SECRET="+secret).hostPort
	}
	old := startOrigin(secret)
	workers.direct(startWorker(secret))

	// Four clients send one request after another.
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	var served atomic.Int64
	failed := make(chan error, 1) // the first failure
	for n := range 4 {
		clients.Go(func() {
			for ctx.Err() == nil {
				status, err := statusOf(workers.hostPort, key, fmt.Sprintf("jane%d@mail.example", n))
				if err != nil || status != http.StatusOK {
					select {
					case failed <- fmt.Errorf("a request failed: status %d, %w", status, err):
					default:
					}
				}
				served.Add(1)
			}
		})
	}
	defer clients.Wait()
	defer stop()
	requireProgress := func() {
		t.Helper()
		goal := served.Load() + 100
		require.Eventually(t, func() bool { return len(failed) > 0 || served.Load() >= goal }, hung, time.Millisecond)
		if len(failed) > 0 {
			t.Fatal(<-failed)
		}
	}
	requireProgress()

	both := startOrigin(nextSecret + "," + secret)
	require.NoError(t, old.Terminate(hung))
	requireProgress()

	workers.direct(startWorker(nextSecret))
	requireProgress()

	startOrigin(nextSecret)
	require.NoError(t, both.Terminate(hung))
	requireProgress()

	status, err := statusOf(startWorker(secret), key, "jane@mail.example")
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, status, "the old secret is of no use any more")
}

// A balancer sends each request to one server, on a connection of its own, and
// never twice.
type balancer struct {
	hostPort string
	target   atomic.Pointer[url.URL]
}

func newBalancer(t *testing.T) *balancer {
	b := new(balancer)
	proxy := &httputil.ReverseProxy{
		Transport: &http.Transport{DisableKeepAlives: true},
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(b.target.Load()) },
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	b.hostPort = server.Listener.Addr().String()
	return b
}

// direct sends the requests that begin from now on to hostPort.
func (b *balancer) direct(hostPort string) {
	b.target.Store(&url.URL{Scheme: "http", Host: hostPort})
}

// statusOf returns the status of one check.
func statusOf(hostPort, key, address string) (int, error) {
	request, err := http.NewRequest(http.MethodGet, "http://"+hostPort+"/v1/email/"+address, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("X-API-Key", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	response.Body.Close()
	return response.StatusCode, nil
}
