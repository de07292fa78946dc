package edge_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
)

// HEAD has the status, the headers and the cost of GET. Its Content-Length is that
// of GET's body.
func TestHead(t *testing.T) {
	t.Parallel()
	o := startOrigin(t, "--dns", contract.Serve(t))
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			w := runtime.start(t, "http://"+o.hostPort)
			for name, target := range map[string]string{"good": "/v1/email/a@mail.example", "bad": "/v1/email/a", "usage": "/v1/usage"} {
				email := name + "@" + runtime.name + ".head.test"
				key := "X-API-Key: " + o.account(t, email)
				full := w.send(t, get(target, key, "X-Request-Id: head"))
				paid := o.used(t, email)
				head := w.send(t, request{Method: http.MethodHead, Target: target, Header: []string{key, "X-Request-Id: head"}})
				require.Equal(t, full.status, head.status)
				require.Empty(t, head.body)
				require.Equal(t, 2*paid, o.used(t, email))
				for _, r := range []response{full, head} {
					r.header.Del("Date")
					r.header.Del("X-Usage-Current") // one more
				}
				require.NotEmpty(t, full.header.Get("Content-Length"))
				require.Equal(t, full.header, head.header)
			}
		})
	}
}
