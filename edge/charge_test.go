package edge_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
)

// slow is the time of a DNS reply in TestNoResponseIsFree. It is long enough for
// origin and worker to notice that a client has disconnected.
const slow = 2 * time.Second

// A request is charged at its end. So it is free if the worker has timed out or the
// client has disconnected before.
func TestNoResponseIsFree(t *testing.T) {
	leftToCI(t)
	dns := mxtest.New(t, contract.Zone)
	o := startOrigin(t, "--dns", dns.Addr, "--dns-timeout", "8s")
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			impatient := runtime.start(t, "http://"+o.hostPort, "ADDRSPEC_ORIGIN_TIMEOUT_MS=700")
			patient := runtime.start(t, "http://"+o.hostPort)
			for _, operation := range []string{"single", "batch"} {
				begin := func(t *testing.T, who string) slowRequest {
					name := fmt.Sprintf("%s-%s-%s", runtime.name, who, operation)
					return newSlowRequest(t, o, dns, name, operation == "batch")
				}
				t.Run("impatient worker/"+operation, func(t *testing.T) {
					t.Parallel()
					r := begin(t, "impatient")
					requireUnavailable(t, impatient.send(t, r.request))
					require.True(t, r.asked(), "the origin did not begin the work")
					r.requireFree(t)
				})
				t.Run("client gone/"+operation, func(t *testing.T) {
					t.Parallel()
					r := begin(t, "gone")
					patient.disconnect(t, r.request, r.asked)
					r.requireFree(t)
				})
				t.Run("client waiting/"+operation, func(t *testing.T) {
					t.Parallel()
					r := begin(t, "waiting")
					a := patient.send(t, r.request)
					require.Equal(t, http.StatusOK, a.status, a.body)
					require.Positive(t, r.used(), "the same work is not charged")
					require.Equal(t, fmt.Sprint(r.used()), a.header.Get("X-Usage-Current"))
				})
			}
		})
	}
}

// A slowRequest is about a domain whose DNS is slow. The domain and the account are
// not shared with other requests.
type slowRequest struct {
	request
	asked func() bool // whether the domain was looked up
	used  func() int64
}

func newSlowRequest(t *testing.T, o *origin, dns *mxtest.Server, name string, batch bool) slowRequest {
	domain, email := name+".bulk.example", name+"@charge.test"
	dns.Respond(domain, mxtest.After(slow, mxtest.Answer))
	r := get("/v1/email/jane@" + domain)
	if batch {
		r = post(fmt.Sprintf(`{"emails":["jane@%s","jane@mail.example","no address"]}`, domain))
	}
	return slowRequest{
		request: r.With("X-API-Key: " + o.account(t, email)),
		asked:   func() bool { return dns.Asked(domain) > 0 },
		used:    func() int64 { return o.used(t, email) },
	}
}

// requireFree requires that the account is not charged until after the work would
// have ended.
func (r *slowRequest) requireFree(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(slow + time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) { // real time: a charge would come after it
		require.Zero(t, r.used())
	}
}

// disconnect sends r and resets the connection once inProgress reports that the work
// has begun.
func (p *process) disconnect(t *testing.T, r request, inProgress func() bool) {
	t.Helper()
	conn := p.dial(t)
	defer conn.Close()
	conn.Send(r.Text(p.hostPort))
	require.Eventually(t, inProgress, hung, 5*time.Millisecond)
	// Not an orderly close, which workerd treats as a half-closed connection.
	require.NoError(t, conn.SetLinger(0))
}

// When the origin times out, the batch is partial and only the finished items are
// charged.
func TestOriginTimeoutIsPartialBatch(t *testing.T) {
	o := startOrigin(t, "--dns", contract.Serve(t), "--dns-timeout", "5s", "--batch-timeout", "1s")
	w := startWorkerd(t, "http://"+o.hostPort)
	key := "X-API-Key: " + o.account(t, "partial@failure.test")
	body := `{"emails":["a@silent.example","b@mail.example","c@[192.0.2.1]","d@silent.example","no address"]}`
	a := w.send(t, post(body, key))
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Contains(t, a.body, `{"success":true,"partial":true,"total":3,"valid_count":2,"invalid_count":1,"error_count":0,"usage_points":3,`)
	require.Equal(t, "3", a.header.Get("X-Usage-Current"))
	requireUnavailable(t, w.send(t, post(`{"emails":["a@silent.example"]}`, key)))
	require.EqualValues(t, 3, o.used(t, "partial@failure.test"))
}

// Garbage behind requests in one write does not take the responses of requests that are charged: they
// come first and whole, and the 400 last. Node calls the handler of garbage while requests are in progress.
func TestGarbageBehindARequest(t *testing.T) {
	t.Parallel()
	o := startOrigin(t, "--dns", contract.Serve(t))
	w := command("node", "", "node.js")(t, "http://"+o.hostPort)
	key := "X-API-Key: " + o.account(t, "garbage@contract.test")
	single := "GET /v1/email/jane.doe@mail.example HTTP/1.1\r\nHost: x\r\n" + key + "\r\n\r\n"
	chunked := "POST /v1/emails HTTP/1.1\r\nHost: x\r\n" + key + "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nxx\r\n"
	for name, c := range map[string]struct {
		before, garbage string
		status          int
	}{
		"no method":     {single, "garbage\r\n\r\n", http.StatusBadRequest},
		"large header":  {single + single, "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", http.StatusRequestHeaderFieldsTooLarge},
		"no chunk":      {single, chunked, http.StatusBadRequest},
		"CONNECT":       {single, "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusBadRequest},
		"nothing":       {"", "garbage\r\n\r\n", http.StatusBadRequest},
		"nothing, body": {"", chunked, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			conn := w.dial(t).Send(c.before + c.garbage)
			for range strings.Count(c.before, "jane.doe") {
				response, body := conn.Response()
				require.Equal(t, http.StatusOK, response.StatusCode, body)
			}
			response, body := conn.Response()
			require.Equal(t, c.status, response.StatusCode, body)
			require.True(t, conn.IsClosed())
		})
	}
	require.EqualValues(t, 5, o.used(t, "garbage@contract.test"))
}
