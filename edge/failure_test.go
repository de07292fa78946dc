package edge_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// wellFormedKey is any well-formed key; a fake origin accepts all.
const wellFormedKey = "X-API-Key: ask_000000000000000000000000000000002CGNRW"

// Every failure of the origin is the contract's complete 503 for the client. An origin
// that stalls waits for the worker to give up, so only its timeout gives a response.
func TestOriginFailureIs503(t *testing.T) {
	t.Parallel()
	originURL := startFakeOrigin(t, misbehaviours)
	asked := map[string]request{
		"single": get("/v1/email/jane@mail.example", wellFormedKey),
		"batch":  post(`{"emails":["jane@mail.example"]}`, wellFormedKey),
		"whole":  post(`{"emails":["jane@mail.example"],"more":1}`, wellFormedKey),
		"once":   post(`{"emails":["jane@mail.example"]}`, wellFormedKey, "Idempotency-Key: one"),
		"usage":  get("/v1/usage", wellFormedKey),
	}
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			w := runtime.start(t, originURL, "ADDRSPEC_ORIGIN_TIMEOUT_MS=500")
			for failure := range misbehaviours {
				for operation, r := range asked {
					t.Run(failure+"/"+operation, func(t *testing.T) {
						t.Parallel()
						requireUnavailable(t, w.send(t, r.With("X-Request-Id: "+failure)))
					})
				}
			}
		})
	}
}

func requireUnavailable(t *testing.T, a response) {
	t.Helper()
	require.Equal(t, http.StatusServiceUnavailable, a.status, a.body)
	require.Equal(t, "application/json", a.header.Get("Content-Type"))
	require.Equal(t, "no-store", a.header.Get("Cache-Control"))
	wait, err := strconv.Atoi(a.header.Get("Retry-After"))
	require.NoError(t, err)
	require.Positive(t, wait)
	var body struct {
		Status      int
		Error, Code string
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &body))
	require.Equal(t, http.StatusServiceUnavailable, body.Status)
	require.Equal(t, "REQUEST_CANCELLED", body.Code)
}

func TestDeadOriginIs503(t *testing.T) {
	t.Parallel()
	free, err := origintest.FreeAddress()
	require.NoError(t, err)
	w := startWorkerd(t, "http://"+free)
	requireUnavailable(t, w.send(t, get("/v1/email/jane@mail.example", wellFormedKey)))
	requireUnavailable(t, w.send(t, get("/openapi.json")))
	require.Equal(t, http.StatusUnauthorized, w.send(t, get("/v1/email/jane@mail.example")).status, "a response that needs no origin")
}

func TestWrongSecretIs503AndLogged(t *testing.T) {
	t.Parallel()
	o := startOrigin(t, "--dns", contract.Serve(t))
	w := startWorkerd(t, "http://"+o.hostPort, "ADDRSPEC_EDGE_SECRET=the secret of another deployment")
	key := o.account(t, "secret@failure.test")
	requireUnavailable(t, w.send(t, get("/v1/email/jane@mail.example", "X-API-Key: "+key)))
	w.requireLogs(t, "ADDRSPEC_EDGE_SECRET is not the origin's")
	requireNoSecrets(t, w)
	require.Zero(t, o.used(t, "secret@failure.test"))
}

// A wrong setting is refused at the start, or on Cloudflare with each request.
func TestWrongSettingIsNamed(t *testing.T) {
	t.Parallel()
	const want = "ADDRSPEC_ORIGIN must be"
	w := startWorkerd(t, "ftp://nowhere")
	requireUnavailable(t, w.send(t, get("/v1/email/jane@mail.example", wellFormedKey)))
	w.requireLogs(t, want)
	cmd := exec.Command("node", "node.js")
	cmd.Dir = bundle(t)
	cmd.Env = append(os.Environ(), "LISTEN=127.0.0.1:0", "ADDRSPEC_ORIGIN=ftp://nowhere", "ADDRSPEC_EDGE_SECRET="+secret)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), want)
}

// requireLogs waits until the log contains text.
func (p *process) requireLogs(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return p.log.Contains(text) }, hung, 10*time.Millisecond)
}

// Requests that break off do not disturb the worker.
func TestWorkerSurvivesBrokenRequests(t *testing.T) {
	t.Parallel()
	o := startOrigin(t, "--dns", contract.Serve(t))
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			w := runtime.start(t, "http://"+o.hostPort)
			email := runtime.name + "@broken.test"
			key := "X-API-Key: " + o.account(t, email)
			whole := post(`{"emails":["jane@mail.example"]}`, key).Text(w.hostPort)
			for _, bytes := range []string{whole[:10], whole[:len(whole)-40], whole[:len(whole)-3], "\x16\x03\x01\x02\x00", strings.Repeat("A", 100_000)} {
				conn := w.dial(t).Send(bytes)
				time.Sleep(20 * time.Millisecond) // real time: the worker may read some of it before the end
				conn.Close()
			}
			require.Zero(t, o.used(t, email))
			require.Equal(t, http.StatusOK, w.send(t, get("/v1/email/jane@mail.example", key)).status)
			requireNoSecrets(t, w)
		})
	}
}
