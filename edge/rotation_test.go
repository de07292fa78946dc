package edge_test

import (
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

// The edge secret is changed under load, by the procedure of
// origin/deploy/rotation.md, and no request fails. Each step is a start of another
// process, as it is for an operator.
func TestEdgeSecretIsChangedUnderLoad(t *testing.T) {
	needsNode(t)
	d := newDeployment(t)
	old := d.startOrigin(t, secret)
	d.origins.direct(old.hostPort)
	d.workers.direct(d.startWorker(t, secret))
	load := d.startLoad(t)
	load.requireProgress(t)

	both := d.startOrigin(t, nextSecret+","+secret)
	d.origins.direct(both.hostPort)
	require.NoError(t, old.Terminate(hung))
	load.requireProgress(t)

	d.workers.direct(d.startWorker(t, nextSecret))
	load.requireProgress(t)

	next := d.startOrigin(t, nextSecret)
	d.origins.direct(next.hostPort)
	require.NoError(t, both.Terminate(hung))
	load.requireProgress(t)
	require.NoError(t, load.stop())

	stale := d.startWorker(t, secret)
	require.Equal(t, http.StatusServiceUnavailable, statusAt(t, stale, d.key), "the old secret is of no use any more")
}

// A deployment has two balancers, so that its processes can be replaced while
// requests go on.
type deployment struct {
	origins, workers *balancer
	database, dns    string
	key              string
}

func newDeployment(t *testing.T) *deployment {
	d := &deployment{origins: newBalancer(t), workers: newBalancer(t), database: origintest.NewDatabase(t), dns: contract.Serve(t)}
	d.key = ledgertest.NewAccount(t, ledgertest.Open(t, d.database), "rotation@contract.test")
	return d
}

// A replica is an `addrspec serve` that the test can stop.
type replica struct {
	*origintest.Process
	hostPort string
}

func (d *deployment) startOrigin(t *testing.T, secrets string) *replica {
	program, err := originProgram()
	require.NoError(t, err)
	args := origintest.ServeArgs(t, d.database, "--dns", d.dns, "--edge-secret", secrets)
	p, err := origintest.Start(exec.Command(program, args...), origintest.OnStdout)
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	at, err := origintest.AddressIn(p.FirstLine)
	require.NoError(t, err)
	return &replica{p, at}
}

func (d *deployment) startWorker(t *testing.T, secret string) (hostPort string) {
	return startWorkerd(t, "http://"+d.origins.hostPort, "ADDRSPEC_EDGE_SECRET="+secret).hostPort
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

// A load is clients that send requests without a pause.
type load struct {
	clients   sync.WaitGroup
	ended     chan struct{}
	succeeded atomic.Int64
	failed    atomic.Pointer[string]
}

func (d *deployment) startLoad(t *testing.T) *load {
	l := &load{ended: make(chan struct{})}
	for n := range 4 {
		l.clients.Go(func() {
			for !l.isEnded() {
				l.record(status(d.workers.hostPort, d.key, fmt.Sprintf("jane%d@mail.example", n)))
			}
		})
	}
	return l
}

func (l *load) isEnded() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

func (l *load) record(status int, err error) {
	if l.succeeded.Add(1); err != nil || status != http.StatusOK {
		failure := fmt.Sprintf("status %d, error %v", status, err)
		l.failed.CompareAndSwap(nil, &failure)
	}
}

// requireProgress waits for 100 further responses, all of which are 200.
func (l *load) requireProgress(t *testing.T) {
	t.Helper()
	goal := l.succeeded.Load() + 100
	require.Eventually(t, func() bool { return l.failed.Load() != nil || l.succeeded.Load() >= goal }, hung, time.Millisecond)
	if failure := l.failed.Load(); failure != nil {
		t.Fatal("a request failed: ", *failure)
	}
}

// stop ends the load and returns the first failure.
func (l *load) stop() error {
	close(l.ended)
	l.clients.Wait()
	if failure := l.failed.Load(); failure != nil {
		return fmt.Errorf("a request failed: %s", *failure)
	}
	return nil
}

func statusAt(t *testing.T, hostPort, key string) int {
	t.Helper()
	code, err := status(hostPort, key, "jane@mail.example")
	require.NoError(t, err)
	return code
}

// status returns the status of one check.
func status(hostPort, key, address string) (int, error) {
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
