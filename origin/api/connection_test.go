package api

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/api/conn"
	"github.com/addrspec/addrspec/origin/api/wire"
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

func (l freeLedger) Forwards(context.Context, string, string) bool { return false }

func (l freeLedger) Begin(ctx context.Context, _, _ string) (Request, ledger.Decision, error) {
	return freeRequest{l, ctx}, ledger.Decision{}, ctx.Err()
}

func (l freeLedger) BeginDashboard(ctx context.Context, _ int64) (Request, ledger.Decision, error) {
	return l.Begin(ctx, "", "")
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

func (r freeRequest) Policy(string) (*ledger.SharedPolicy, error) { return nil, nil }

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
	go server.Serve(conn.Listen(server, inner, conn.Config{
		Limit: most, Refusal: f.Metrics.Refusal, Metrics: conn.NewMetrics(prometheus.NewRegistry())}))
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

// The responses that a caller does not read use at most its account's limit of
// memory; beyond it requests get 429.
func TestUnreadResponsesAreLimited(t *testing.T) {
	f := newFakes(t)
	f.memory = newMemory(MinMemory)
	address := f.listen(t, 100)
	var emails []string
	for n := range 64 {
		emails = append(emails, fmt.Sprintf(`"%02d%s@mail.example"`, n, strings.Repeat("x", 4000)))
	}
	body := `{"emails":[` + strings.Join(emails, ",") + `]}`
	statuses := map[int]int{}
	var unread []*origintest.TestConn
	for range 8 {
		w := dial(t, address)
		require.NoError(t, w.SetReadBuffer(4096))
		w.Send(fmt.Sprintf("POST /v1/emails %s%s\r\nContent-Length: %d\r\n\r\n%s", askHeader, goodKey, len(body), body))
		response := w.Header(http.MethodPost)
		statuses[response.StatusCode]++
		require.LessOrEqual(t, f.MemoryInUse(), MinMemory/4)
		unread = append(unread, w)
	}
	require.Greater(t, statuses[200], 1, statuses)
	require.Greater(t, statuses[429], 1, statuses)
	require.Equal(t, 8, statuses[200]+statuses[429])
	for _, w := range unread {
		w.Close()
	}
	require.Eventually(t, func() bool { return f.MemoryInUse() == 0 }, hung, time.Millisecond)
}

// A client that sends the whole body before it reads the response, as Go's client
// and so Caddy may, gets 413 and no reset connection: net/http closes its side first, and
// the connection half a second later.
func TestTooLongBodiesGetAResponse(t *testing.T) {
	f := newFakes(t)
	address := f.listen(t, 1000)
	for n := range 4 {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: n%2 == 0}} // which announces that it closes
		size := []int{batchBody.Limit + 1, 2*batchBody.Limit - 1}[n/2]
		body := strings.Repeat(" ", size)
		for range 30 {
			request, err := http.NewRequest(http.MethodPost, "http://"+address+"/v1/emails", strings.NewReader(body))
			require.NoError(t, err)
			request.Header.Set("Content-Type", wire.JSON)
			request.Header.Set("X-API-Key", goodKey)
			response, err := client.Do(request)
			require.NoError(t, err, "%d bytes", size)
			response.Body.Close()
			require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
		}
	}
}

// A body with Content-Length and Transfer-Encoding is read by its chunks, and the next
// request begins after the last one (RFC 9112 section 6.3). Go keeps the connection, which
// section 6.1 says to close; a proxy must not pass such a request on (deploy/threats.md).
func TestBodyWithTwoLengths(t *testing.T) {
	f := newFakes(t)
	address := f.listen(t, 10)
	for _, length := range []int{0, 3, 32, 1000} {
		kept := dial(t, address)
		for range 2 {
			kept.Send(fmt.Sprintf("POST /v1/emails %s%s\r\nContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n1e\r\n%s\r\n0\r\n\r\n%s",
				askHeader, goodKey, length, `{"emails":["a@mail.example"]} `, getHealth))
			response, body := kept.Response()
			require.Equal(t, http.StatusOK, response.StatusCode, body)
			require.Contains(t, body, `"total":1`)
			_, body = kept.Response()
			require.Equal(t, `{"status":"ok"}`, body)
		}
	}
}
