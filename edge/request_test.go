package edge_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

type request = origintest.Request

// get returns a GET request.
func get(target string, headers ...string) request {
	return request{Method: http.MethodGet, Target: target, Header: headers}
}

// post returns a batch.
func post(body string, headers ...string) request {
	return request{Method: http.MethodPost, Target: "/v1/emails", Header: append([]string{"Content-Type: application/json"}, headers...), Body: body}
}

// A response has the body as text.
type response struct {
	status int
	header http.Header
	body   string
}

// hung is the time after which what a test waits for will not come.
const hung = 2 * time.Minute

// send sends r on a connection of its own.
func (p *process) send(t testing.TB, r request) response {
	t.Helper()
	got, body := origintest.Exchange(t, p.hostPort, r.Text(p.hostPort), hung)
	return response{got.StatusCode, got.Header, body}
}

// dial opens a connection that ends with the test.
func (p *process) dial(t testing.TB) *origintest.TestConn {
	t.Helper()
	return origintest.Dial(t, p.hostPort, hung)
}
