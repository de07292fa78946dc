package edge_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
)

// unknownKey is a well-formed key of no account.
const unknownKey = "X-API-Key: ask_000000000000000000000000000000002CGNRW"

// The key is checked before the body is read, so that a client without a key
// cannot occupy a worker's memory with a body that it never ends.
func TestKeyIsCheckedBeforeTheBody(t *testing.T) {
	t.Parallel()
	o := startOrigin(t, "--dns", contract.Serve(t))
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			w := runtime.start(t, "http://"+o.hostPort)
			for name, header := range map[string]string{
				"declared": "Content-Length: 1000000\r\n\r\n",
				"chunked":  fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", 1_000_000),
			} {
				t.Run(name, func(t *testing.T) {
					half := `{"emails":["` + strings.Repeat("a", 500_000)
					status, body := http.StatusServiceUnavailable, ""
					for tries := 0; status == http.StatusServiceUnavailable && tries < 9; tries++ { // see TestLongBodies
						conn := w.dial(t)
						go conn.Send("POST /v1/emails HTTP/1.1\r\nHost: " + w.hostPort +
							"\r\nContent-Type: application/json\r\n" + unknownKey + "\r\n" + header + half)
						response, text := conn.Response() // the rest of the body is never sent
						status, body = response.StatusCode, text
					}
					require.Equal(t, http.StatusUnauthorized, status, body)
				})
			}
		})
	}
}

// The worker returns the origin's response to a body of any length and framing.
func TestLongBodies(t *testing.T) {
	t.Parallel()
	o := startOrigin(t, "--dns", contract.Serve(t))
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			w := runtime.start(t, "http://"+o.hostPort)
			email := runtime.name + "@long.test"
			key := "X-API-Key: " + o.account(t, email)
			for _, size := range []int{1_000, 64 << 10, 64<<10 + 1, 200_000, 1 << 20, 1<<20 + 1, 1<<20 + 2, 3 << 20} {
				for _, chunked := range []bool{false, true} {
					want := http.StatusOK
					if size > 1<<20 {
						want = http.StatusRequestEntityTooLarge
					}
					a := w.send(t, batchOfSize(size, chunked).With(key))
					require.Equal(t, want, a.status, "%d bytes, chunked %v: %.200s", size, chunked, a.body)
					a = w.send(t, batchOfSize(size, chunked).With(unknownKey))
					for tries := 0; a.status == http.StatusServiceUnavailable && tries < 9; tries++ {
						// On a busy machine the origin may close the connection before the runtime, which still
						// sends, has read the response.
						a = w.send(t, batchOfSize(size, chunked).With(unknownKey))
					}
					require.Equal(t, http.StatusUnauthorized, a.status, "%d bytes, chunked %v: %.200s", size, chunked, a.body)
				}
			}
			require.EqualValues(t, 10, o.used(t, email))
			requireNoSecrets(t, w)
		})
	}
}

// batchOfSize returns a batch of one address, padded with white space.
func batchOfSize(size int, chunked bool) request {
	body := `{"emails":["no address"]}`
	body += strings.Repeat(" ", size-len(body))
	if !chunked {
		return post(body)
	}
	var pieces strings.Builder
	for len(body) > 0 {
		n := min(len(body), 10_000)
		fmt.Fprintf(&pieces, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	r := post(pieces.String()+"0\r\n\r\n", "Transfer-Encoding: chunked")
	r.Chunked = true
	return r
}
