package api

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// A freeLedger accepts every request, for one account, and is safe for concurrent
// use.
type freeLedger struct{ account int64 }

func (l freeLedger) Ready(context.Context) error { return nil }

func (l freeLedger) Peek(context.Context, string, string) (int64, ledger.Decision, error) {
	return 1, ledger.Decision{}, nil
}

func (l freeLedger) Prospect(context.Context, string, string, string) (p ledger.Prospect) { return p }

func (l freeLedger) Begin(ctx context.Context, _, _ string) (Request, ledger.Decision, error) {
	return freeRequest{l, ctx}, ledger.Decision{}, ctx.Err()
}

type freeRequest struct {
	freeLedger
	ctx context.Context
}

func (r freeRequest) Account() int64                { return r.account }
func (r freeRequest) Test() bool                    { return false }
func (r freeRequest) Context() context.Context      { return r.ctx }
func (r freeRequest) Late() (ledger.Decision, bool) { return ledger.Decision{}, false }
func (r freeRequest) WorkRefused()                  {}
func (r freeRequest) Succeeded()                    {}
func (r freeRequest) End()                          {}

func (r freeRequest) Policy(string) (*ledger.Policy, error) { return nil, nil }

func (r freeRequest) Inspect() (ledger.Decision, error) { return ledger.Decision{}, r.ctx.Err() }

func (r freeRequest) Claim(int64, *ledger.Idempotency) (ledger.Decision, error) {
	return ledger.Decision{}, r.ctx.Err()
}

func (r freeRequest) Charge(ledger.Charge) (ledger.Decision, error) {
	return ledger.Decision{}, r.ctx.Err()
}

// listen serves f on a socket with at most most connections and a freeLedger. The
// server has no timeouts.
func (f *fakes) listen(t testing.TB, most int) (address string) {
	f.Ledger = freeLedger{account: 7}
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: f, DisableGeneralOptionsHandler: true}
	go server.Serve(Listen(server, inner, most, f.Metrics))
	t.Cleanup(func() { server.Close() })
	return inner.Addr().String()
}

// hung is longer than anything takes, however slow the machine.
const hung = 2 * time.Minute

func dial(t testing.TB, address string) *origintest.TestConn {
	return origintest.Dial(t, address, hung)
}

const (
	getHealth = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	askHeader = "HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-API-Key: "
)

// asks returns a request for an address, with a valid key.
func asks(email string) string {
	return "GET /v1/email/" + email + " " + askHeader + goodKey + "\r\n\r\n"
}

// While idle connections of every kind fill the limit, each new connection is
// served and replaces the one that has been idle longest.
func TestNewConnectionReplacesLongestIdle(t *testing.T) {
	f := newFakes(t)
	const most = 200
	address := f.listen(t, most)
	var idle []*origintest.TestConn
	for n := range most {
		w := dial(t, address)
		switch n % 4 {
		case 0: // silent
		case 1:
			w.Send("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ")
		case 2:
			w.Send(getHealth).Response()
			w.Send("POST /v1/emails HT")
		case 3:
			w.Send(getHealth).Response()
		}
		idle = append(idle, w)
	}
	for n := range 3 * most {
		client := dial(t, address).Send(getHealth)
		response, body := client.Response()
		require.Equal(t, 200, response.StatusCode, body)
		if n < most {
			require.True(t, idle[n].IsClosed(), n)
		}
	}
}

// Connections opened as fast as possible do not close a connection whose request
// is in a handler.
func TestRequestInHandlerIsNeverShed(t *testing.T) {
	f := newFakes(t)
	gate := make(chan struct{})
	f.resolver.ask["slow.example"] = func(context.Context) (bool, error) { <-gate; return true, nil }
	const most, honest = 50, 20
	address := f.listen(t, most)
	var waiting []*origintest.TestConn
	for range honest {
		waiting = append(waiting, dial(t, address).Send(asks("a@slow.example")))
	}
	require.Eventually(t, func() bool { return countSteps(f.trace.list(), "ask slow.example") == honest }, hung, time.Millisecond)
	var attackers sync.WaitGroup
	for range 4 {
		attackers.Go(func() {
			for n := range 300 {
				if c, err := net.Dial("tcp", address); err == nil {
					io.WriteString(c, []string{"", "GET /", getHealth, "\x00\r\n\r\n"}[n%4])
					defer c.Close()
				}
			}
		})
	}
	attackers.Wait()
	close(gate)
	for _, w := range waiting {
		response, body := w.Response()
		require.Equal(t, 200, response.StatusCode, body)
	}
}

// If every connection has a request in a handler, a new one gets 503 in shape A.
// Once a request gets a response, a new connection is served.
func TestNewConnectionRefusedIfNoneIdle(t *testing.T) {
	f := newFakes(t)
	gate := make(chan struct{})
	f.resolver.ask["slow.example"] = func(context.Context) (bool, error) { <-gate; return true, nil }
	address := f.listen(t, 1)
	first := dial(t, address).Send(asks("a@slow.example"))
	require.Eventually(t, func() bool { return countSteps(f.trace.list(), "ask slow.example") == 1 }, hung, time.Millisecond)

	response, body := dial(t, address).Send(getHealth).Response()
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.Equal(t, "1", response.Header.Get("Retry-After"))
	require.Equal(t, "application/json", response.Header.Get("Content-Type"))
	require.NotEmpty(t, response.Header.Get("X-Request-Id"))
	require.Contains(t, body, `{"status":503,"error":"The service has too many open connections`)
	require.Contains(t, body, `"code":"REQUEST_CANCELLED"`)

	close(gate)
	response, _ = first.Response()
	require.Equal(t, 200, response.StatusCode)
	require.Eventually(t, func() bool { // the handler returns after the response is sent
		response, _ := dial(t, address).Send(getHealth).Response()
		return response.StatusCode == http.StatusOK
	}, hung, time.Millisecond)
}

// Connections of callers without a key who do not read their responses can be
// closed for others, although a handler is still sending.
func TestUnreadPublicResponsesAreShed(t *testing.T) {
	f := newFakes(t)
	const most = 20
	address := f.listen(t, most)
	for range most {
		w := dial(t, address)
		require.NoError(t, w.SetReadBuffer(4096))
		go w.Send(strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", 2000))
	}
	sent := func() int { return len(f.log.list()) }
	before := -1
	require.Eventually(t, func() bool { // until all are blocked
		defer func() { before = sent() }()
		return before >= most && before == sent()
	}, hung, 200*time.Millisecond)
	for range most {
		response, body := dial(t, address).Send(getHealth).Response()
		require.Equal(t, 200, response.StatusCode, body)
	}
}

// A heldPage sends its response in two parts, the second when next is closed.
type heldPage struct {
	keep        bool // the connection
	begun, next chan struct{}
}

func (p *heldPage) Has(*http.Request) bool { return true }

func (p *heldPage) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if p.keep {
		w.(interface{ KeepConnection() }).KeepConnection()
	}
	w.Header().Set("Content-Length", "2")
	io.WriteString(w, "1")
	http.NewResponseController(w).Flush()
	close(p.begun)
	<-p.next
	io.WriteString(w, "2")
}

// A connection can be closed for another while a page is sent, unless the page keeps
// it.
func TestConnectionOfAPage(t *testing.T) {
	for _, keep := range []bool{true, false} {
		f := newFakes(t)
		page := &heldPage{keep, make(chan struct{}), make(chan struct{})}
		f.Pages = page
		address := f.listen(t, 2)
		c := dial(t, address).Send("GET /page HTTP/1.1\r\nHost: x\r\n\r\n")
		<-page.begun
		for range 4 {
			response, body := dial(t, address).Send(getHealth).Response()
			require.Equal(t, 200, response.StatusCode, body)
		}
		close(page.next)
		_, body, err := c.ReadResponse(http.MethodGet)
		if keep {
			require.NoError(t, err)
			require.Equal(t, "12", string(body))
		} else {
			require.Error(t, err)
		}
	}
}

// If a refused caller announces a body and does not send it, it gets its response
// and its connection is closed soon.
func TestUnsentBody(t *testing.T) {
	for name, c := range map[string]struct {
		request string
		status  int
	}{
		"refused key":      {"POST /v1/emails HTTP/1.1\r\nHost: x\r\nX-API-Key: no\r\nContent-Length: 1000\r\n\r\n{", 401},
		"in chunks":        {"POST /v1/emails HTTP/1.1\r\nHost: x\r\nX-API-Key: no\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{", 401},
		"no such path":     {"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n{", 404},
		"of a GET":         {"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{", 200},
		"wrong media type": {"POST /v1/emails HTTP/1.1\r\nHost: x\r\nX-API-Key: " + goodKey + "\r\nContent-Length: 1000\r\n\r\n{", 415},
	} {
		t.Run(name, func(t *testing.T) {
			w := dial(t, newFakes(t).listen(t, 10)).Send(c.request)
			response, body := w.Response()
			require.Equal(t, c.status, response.StatusCode, body)
			require.True(t, w.IsClosed())
		})
	}
}

// A refused caller whose whole body was read keeps its connection.
func TestReadBodyKeepsConnection(t *testing.T) {
	w := dial(t, newFakes(t).listen(t, 10))
	for range 3 {
		response, _ := w.Send("POST /v1/emails HTTP/1.1\r\nHost: x\r\nX-API-Key: no\r\nContent-Length: 2\r\n\r\n{}").Response()
		require.Equal(t, 401, response.StatusCode)
		response, _ = w.Send("POST /v1/emails " + askHeader + goodKey + "\r\nContent-Length: 30\r\n\r\n" + `{"emails":["a@mail.example"]} `).Response()
		require.Equal(t, 200, response.StatusCode)
	}
}

// shed returns the number of idle connections closed for others.
func (f *fakes) shed(t testing.TB) (count float64) {
	page := string(f.metrics(nil).body)
	_, err := fmt.Sscanf(page[strings.Index(page, "\naddrspec_connections_shed_total "):], "\naddrspec_connections_shed_total %g", &count)
	require.NoError(t, err)
	return count
}

// The memory of all incomplete headers is limited. Connections without one are not
// closed for it.
func TestIncompleteHeadersAreLimited(t *testing.T) {
	f := newFakes(t)
	address := f.listen(t, 5000)
	idle := dial(t, address).Send(getHealth)
	idle.Response()
	const piece = 60 << 10
	var senders sync.WaitGroup
	for range 2 * maxHeaders / piece {
		w := dial(t, address)
		senders.Go(func() { w.Send("GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", piece)) })
	}
	senders.Wait()
	require.Eventually(t, func() bool { return f.shed(t) > maxHeaders/piece*3/4 }, hung, 5*time.Millisecond)
	response, _ := idle.Send(getHealth).Response()
	require.Equal(t, 200, response.StatusCode)
}

// Header bytes are no longer counted once the header is complete or the
// connection is closed in any way.
func TestHeaderBytesAreReleased(t *testing.T) {
	f := newFakes(t)
	b := newConnLimiter(3, f.Metrics)
	ours, theirs := net.Pipe()
	go io.Copy(io.Discard, theirs)
	whole, closed, shed := b.admit(ours), b.admit(ours), b.admit(ours)
	for _, c := range []*conn{whole, closed, shed} {
		b.countHeader(c, 1000)
	}
	require.EqualValues(t, 3000, b.headerBytes)
	require.True(t, whole.beginHandler())
	require.EqualValues(t, 1000, whole.headerSize())
	b.countHeader(whole, 500) // of its body
	require.EqualValues(t, 2000, b.headerBytes)
	require.NoError(t, closed.Close())
	require.NoError(t, closed.Close())
	require.EqualValues(t, 1000, b.headerBytes)
	b.admit(ours)
	require.NotNil(t, b.admit(ours), "replaces the longest idle one")
	require.False(t, shed.beginHandler())
	b.countHeader(shed, 1000)
	require.Zero(t, b.headerBytes)
	whole.endHandler()
	b.countHeader(whole, 5)
	require.True(t, whole.beginHandler())
	whole.expectRequest()
	whole.endHandler()
	b.countHeader(whole, 10)
	require.EqualValues(t, 10, b.headerBytes)
	require.NoError(t, whole.Close())
	require.Zero(t, b.headerBytes)
}

// The responses that a caller does not read use at most its account's limit of
// memory; beyond it requests get 429.
func TestUnreadResponsesAreLimited(t *testing.T) {
	f := newFakes(t)
	f.Memory = NewMemoryBudget(MinBodyMemory)
	address := f.listen(t, 100)
	var emails []string
	for n := range 64 {
		emails = append(emails, fmt.Sprintf(`"%02d%s@mail.example"`, n, strings.Repeat("x", 4000)))
	}
	body := `{"emails":[` + strings.Join(emails, ",") + `]}`
	statuses := map[int]int{}
	var unread []*origintest.TestConn
	for range 40 {
		w := dial(t, address)
		require.NoError(t, w.SetReadBuffer(4096))
		w.Send(fmt.Sprintf("POST /v1/emails %s%s\r\nContent-Length: %d\r\n\r\n%s", askHeader, goodKey, len(body), body))
		response := w.Header(http.MethodPost)
		statuses[response.StatusCode]++
		require.LessOrEqual(t, f.Memory.Used(), int64(MinBodyMemory/budgetShares))
		unread = append(unread, w)
	}
	require.Greater(t, statuses[200], 3)
	require.Greater(t, statuses[429], 3, statuses)
	require.Equal(t, 40, statuses[200]+statuses[429])
	for _, w := range unread {
		w.Close()
	}
	require.Eventually(t, func() bool { return f.Memory.Used() == 0 }, hung, time.Millisecond)
}

// Long headers of requests in progress count towards the account's limit of memory.
func TestLongHeadersAreLimited(t *testing.T) {
	f := newFakes(t)
	f.Memory = NewMemoryBudget(MinBodyMemory)
	gate := make(chan struct{})
	f.resolver.ask["slow.example"] = func(context.Context) (bool, error) { <-gate; return true, nil }
	address := f.listen(t, 200)
	const header = 60 << 10
	most := MinBodyMemory / budgetShares / header
	long := "GET /v1/email/a@slow.example " + askHeader + goodKey + "\r\nX: " + strings.Repeat("x", header) + "\r\n\r\n"
	var waiting []*origintest.TestConn
	for n := 0; f.Memory.Used() < int64(most*header); n++ {
		waiting = append(waiting, dial(t, address).Send(long))
		require.Eventually(t, func() bool { return countSteps(f.trace.list(), "ask slow.example") == n+1 }, hung, time.Millisecond)
	}
	require.LessOrEqual(t, len(waiting), most)
	response, body := dial(t, address).Send(long).Response()
	require.Equal(t, 429, response.StatusCode, body)
	require.Contains(t, body, "Rate limit exceeded: the headers")
	response, body = dial(t, address).Send(asks("a@mail.example")).Response()
	require.Equal(t, 200, response.StatusCode, body)
	close(gate)
	for _, w := range waiting {
		response, body := w.Response()
		require.Equal(t, 200, response.StatusCode, body)
	}
	require.Eventually(t, func() bool { return f.Memory.Used() == 0 }, hung, time.Millisecond)
}
