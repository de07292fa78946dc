package edge_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/contract"
)

// withKey adds a key to requests.
type withKey string

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// A message of an assistant has the same response through a worker as at the origin, whatever
// it is, and costs the same.
func TestMCP(t *testing.T) {
	t.Parallel()
	o := startOrigin(t, "--dns", contract.Serve(t))
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	const check = `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"check_emails","arguments":{"emails":["info@mail.example","jane..doe@mail.example"]}}}`
	for at, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			w := runtime.start(t, "http://"+o.hostPort)
			email := "mcp" + strconv.Itoa(at) + "@twin.test"
			key := o.account(t, email)
			post := func(body string, header ...string) request {
				return request{Method: http.MethodPost, Target: "/mcp", Body: body, Header: append([]string{"X-Request-Id: twin", "Content-Type: application/json", "X-API-Key: " + key}, header...)}
			}
			without := func(r request, name string) request {
				for n, line := range r.Header {
					if strings.HasPrefix(line, name) {
						r.Header = append(r.Header[:n:n], r.Header[n+1:]...)
					}
				}
				return r
			}
			for n, r := range []request{
				post(list),
				post(check),
				post(check, "Mcp-Protocol-Version: 2025-06-18", "Mcp-Session-Id: x"),
				post(list, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call"),
				post(list, "Mcp-Protocol-Version: 1999-01-01"),
				post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`),
				post(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`),
				post("[" + list + "]"),
				post("{"),
				post(""),
				post(strings.Repeat(" ", 200<<10) + list),
				post(strings.Repeat(" ", 300<<10) + list),
				post(list, "Content-Encoding: gzip"),
				without(post(list), "Content-Type"),
				without(post(list), "X-API-Key"),
				without(post(list, "Authorization: Bearer "+book.NewSecret()), "X-API-Key"),
				{Method: http.MethodGet, Target: "/mcp", Header: []string{"X-Request-Id: twin", "X-API-Key: " + key}},
				{Method: http.MethodDelete, Target: "/mcp", Header: []string{"X-Request-Id: twin", "X-API-Key: " + key}},
				{Method: http.MethodOptions, Target: "/mcp", Header: []string{"X-Request-Id: twin", "Origin: https://shop.example"}},
			} {
				before := o.used(t, email)
				edge := w.send(t, r)
				between := o.used(t, email)
				direct := o.send(t, r)
				require.Equal(t, direct.essence(), edge.essence(), n)
				require.Equal(t, direct.header["Access-Control-Allow-Headers"], edge.header["Access-Control-Allow-Headers"], n)
				require.Equal(t, between-before, o.used(t, email)-between, n)
			}
			require.EqualValues(t, 8, o.used(t, email), "two calls through the worker and two at the origin")

			for _, version := range []string{"", "2025-11-25"} {
				session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(),
					&sdk.StreamableClientTransport{Endpoint: "http://" + w.hostPort + "/mcp", HTTPClient: &http.Client{Transport: withKey(key)}},
					&sdk.ClientSessionOptions{ProtocolVersion: version})
				require.NoError(t, err)
				result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "check_email", Arguments: map[string]any{"email": "jane@mail.example"}})
				require.NoError(t, err)
				require.False(t, result.IsError)
				require.NoError(t, session.Close())
			}
			require.EqualValues(t, 10, o.used(t, email))
		})
	}
}
