package edge_test

import (
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/contract"
)

// A worker that waits no longer, and a caller that is gone, are charged nothing.
func TestWhoGetsNoAnswerPaysNothing(t *testing.T) {
	slow := []string{"--dns", contract.Serve(t), "--dns-timeout", "3s"}
	asked := map[string]request{
		"single": get("/v1/email/jane@silent.example"),
		"batch":  post(`{"emails":["jane@silent.example","jane@mail.example"]}`),
	}
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			o := startOrigin(t, slow...)
			impatient := runtime.start(t, "http://"+o.hostPort, "ADDRSPEC_ORIGIN_TIMEOUT_MS=700")
			patient := runtime.start(t, "http://"+o.hostPort)
			for operation, r := range asked {
				t.Run("impatient worker/"+operation, func(t *testing.T) {
					email := "impatient-" + operation + "@failure.test"
					r := r.with("X-API-Key: " + o.account(t, email))
					requireUnavailable(t, impatient.send(t, r))
					o.requireGivenBack(t, email)
				})
				t.Run("client gone/"+operation, func(t *testing.T) {
					email := "gone-" + operation + "@failure.test"
					patient.leave(t, r.with("X-API-Key: "+o.account(t, email)), func() { o.requireCharged(t, email) })
					o.requireGivenBack(t, email)
				})
			}
		})
	}
}

// leave sends r and hangs up once it is under way.
func (p *process) leave(t *testing.T, r request, underWay func()) {
	conn, err := net.Dial("tcp", p.hostPort)
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte(r.wire(p.hostPort)))
	require.NoError(t, err)
	underWay()
	require.NoError(t, conn.(*net.TCPConn).SetLinger(0)) // a reset: workerd takes an orderly end for a half-closed connection
}

func (o *origin) requireCharged(t *testing.T, email string) {
	t.Helper()
	require.Eventually(t, func() bool { return o.used(t, email) > 0 }, 2*time.Second, 5*time.Millisecond)
}

// requireGivenBack waits less than the DNS time-out: the origin must have
// noticed that nobody waits, not have come to the end by itself.
func (o *origin) requireGivenBack(t *testing.T, email string) {
	t.Helper()
	require.Eventually(t, func() bool { return o.used(t, email) == 0 }, 1500*time.Millisecond, 5*time.Millisecond)
}

// A batch of which the origin finished a part is partial, and its rest is given back.
func TestDeadlineOfTheOriginIsAPartialBatch(t *testing.T) {
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
