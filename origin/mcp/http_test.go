package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

const httpKey = "ask_000000000000000000000000000000002CGNRW"

// An api counts the operations that it is sent. With a gate it waits for each.
type api struct {
	calls       atomic.Int64
	begun, gate chan struct{}
	status      int // of the responses; 200 for a batch
	body        string
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.calls.Add(1)
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/v1/emails" || r.Header.Get("X-Api-Key") != httpKey {
		panic("not an operation")
	}
	if a.gate != nil {
		a.begun <- struct{}{}
		<-a.gate
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
		return
	}
	var given struct{ Emails []string }
	if json.Unmarshal(body, &given) != nil {
		panic("not a batch")
	}
	items := make([]string, len(given.Emails))
	for n, email := range given.Emails {
		text, _ := json.Marshal(email)
		items[n] = fmt.Sprintf(`{"email":%s,"status":"success","result":{"email":%s,"valid":true,"normalized":%s,"local_part":"a","alias":false,"ascii":true,"role":null,"gibberish":false,"gibberish_score":0,"domain":"b","mx":true,"disposable":false,"public":false,"relay":false,"typo":false,"typo_suggestion":null},"error":null}`, text, text, text)
	}
	_, _ = fmt.Fprintf(w, `{"success":true,"partial":false,"results":[%s]}`, strings.Join(items, ","))
}

// newHTTP returns an HTTP with an API, and a function that sends it a message with headers.
func newHTTP(t testing.TB, a http.Handler) func(ctx context.Context, message string, header ...string) (status int, body string) {
	h := NewHTTP(HTTPOptions{Release: "1", API: a, Panicked: func(any) {}})
	return func(ctx context.Context, message string, header ...string) (int, string) {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", nil)
		r.Header.Set("Content-Type", "application/json")
		for n := 0; n < len(header); n += 2 {
			r.Header.Set(header[n], header[n+1])
		}
		status, body := h.Respond(r, httpKey, []byte(message), "")
		return status, string(body)
	}
}

// callOf returns the call of a tool about as many addresses.
func callOf(addresses int, local string) string {
	emails := make([]string, addresses)
	for n := range emails {
		emails[n] = fmt.Sprintf("%d%s@mail.example", n, local)
	}
	list, _ := json.Marshal(emails)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_emails","arguments":{"emails":%s}}}`, list)
}

// BenchmarkMemoryOfMessages measures what a call holds whose operation waits, besides what the
// API holds for that.
func BenchmarkMemoryOfMessages(b *testing.B) {
	for name, message := range map[string]string{
		"1 address":         callOf(1, ""),
		"64 addresses":      callOf(64, strings.Repeat("x", 60)),
		"64 long addresses": callOf(64, strings.Repeat("x", 3900)),
		"white space":       strings.Replace(callOf(1, ""), `"emails":`, strings.Repeat(" ", 250<<10)+`"emails":`, 1),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				held := heldBy(b, message, 50)
				b.ReportMetric(float64(held), "held-B")
				b.ReportMetric(float64(held-60<<10)/float64(len(message)), "held-60K/message")
			}
		})
	}
}

func heldBy(b *testing.B, message string, calls int) int64 {
	a := &api{begun: make(chan struct{}), gate: make(chan struct{})}
	send := newHTTP(b, a)
	var all sync.WaitGroup
	before := inUse()
	for range calls {
		body := bytes.Clone([]byte(message))
		all.Go(func() { send(context.Background(), string(body)) })
	}
	for range calls {
		<-a.begun
	}
	held := inUse() - before
	close(a.gate)
	all.Wait()
	return held / int64(calls)
}

// inUse returns the bytes of the heap and of stacks.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// What is no message, or none for this server, gets an error of the protocol and costs nothing.
func TestRespond(t *testing.T) {
	a := new(api)
	send := newHTTP(t, a)
	const listen, version = `{"jsonrpc":"2.0","id":"x","method":"subscriptions/listen","params":{}}`, "Mcp-Protocol-Version"
	const never = `{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"subscriptions/listen: the tools of this server never change"}}`
	for _, c := range []struct {
		body   string
		header []string
		status int
		says   string
	}{
		{"", nil, 400, `"code":-32700,"message":"the body is empty`},
		{"{", nil, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the body is not JSON; a POST has one JSON object"}}`},
		{"{}", nil, 400, `"code":-32600`},
		{strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), nil, 400, `"error":`},
		{`{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}`, nil, 400, `"id":null,"error":{"code":-32600,"message":"the id of the body is a number with a fraction`},
		{`{"jsonrpc":"2.0","id":-9007199254740991,"method":"tools/list"}`, nil, 200, `"id":-9007199254740991,`},
		{`{"jsonrpc":"2.0","id":7,"method":"no/such"}`, nil, 400, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600`},
		{listTools, []string{version, "1999-01-01"}, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Bad Request: Unsupported protocol version`},
		{listTools, []string{version, "2026-07-28"}, 400, `"id":1,"error"`},
		{listTools, []string{"Last-Event-Id", "1"}, 400, `"id":1,"error"`},
		{listTools, []string{"Mcp-Session-Id", "x", "Accept", "text/event-stream"}, 200, `"tools":[`},
		{listen, nil, 404, never},
		{listen, []string{version, "2026-07-28"}, 404, never},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, ""},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 202, ""},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, nil, 200, `"code":-32602`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_email"}}`, nil, 200, `"isError":true`},
	} {
		status, body := send(t.Context(), c.body, c.header...)
		require.Equal(t, c.status, status, "%s %v: %s", c.body, c.header, body)
		require.Contains(t, body, c.says)
		require.True(t, body == "" || json.Valid([]byte(body)), body)
	}
	require.Zero(t, a.calls.Load())
}

// A client of each version of the protocol gets every response, though no two of its messages go to
// the same replica.
func TestVersions(t *testing.T) {
	a := new(api)
	replicas := []func(context.Context, string, ...string) (int, string){newHTTP(t, a), newHTTP(t, a)}
	sent := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		message, _ := io.ReadAll(r.Body)
		var header []string
		for name := range r.Header {
			header = append(header, name, r.Header.Get(name))
		}
		sent++ // a client sends one message at a time
		status, body := replicas[sent%2](r.Context(), string(message), header...)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	defer service.Close()
	for n, version := range []string{"", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
			&sdk.StreamableClientTransport{Endpoint: service.URL}, &sdk.ClientSessionOptions{ProtocolVersion: version})
		require.NoError(t, err)
		require.Contains(t, session.InitializeResult().Instructions, "one usage point")
		require.Empty(t, session.ID(), "no session")
		list, err := session.ListTools(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, list.Tools, 3)
		require.Equal(t, 3_600_000, list.TTLMs)
		require.Equal(t, "public", list.CacheScope)
		_, text, isError := call(t, session, "check_emails", map[string]any{"emails": []string{"a@b", "a@b", "c@b"}})
		require.False(t, isError, text)
		require.Contains(t, text, "2 addresses: 2 valid, 0 not valid, 0 not checked.\n")
		require.EqualValues(t, n+1, a.calls.Load())
		require.NoError(t, session.Close())
	}
}

// The operation of a call ends with its POST, also in a version of the protocol in which the SDK
// goes on, and has those headers of the POST that concern it.
func TestOperationOfAPOST(t *testing.T) {
	for version, meta := range map[string]string{"": "", "2026-07-28": `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`} {
		ctx, cancel := context.WithCancel(t.Context())
		var header http.Header
		send := newHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			header = r.Header
			cancel()
			<-r.Context().Done()
		}))
		message := strings.TrimSuffix(callOf(2, ""), "}}") + meta + "}}"
		send(ctx, message, "Mcp-Protocol-Version", version, "Mcp-Method", "tools/call", "Mcp-Name", "check_emails",
			"X-Request-Id", "trace", "Origin", "https://a.example", "Idempotency-Key", "once", "Cookie", "c=1")
		require.Equal(t, "trace", header.Get("X-Request-Id"))
		require.Equal(t, "https://a.example", header.Get("Origin"))
		require.Equal(t, "once", header.Get("Idempotency-Key"))
		require.Empty(t, header["Cookie"])
	}
}

// Whatever the body is, the response is JSON in the form of the protocol, or empty, and at most one
// operation is sent.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{"", "{", "[]", "null", "\xff", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, callOf(2, ""), "[" + callOf(1, "") + "]",
		`{"jsonrpc":"2.0","id":"x","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{}}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
	} {
		f.Add(seed, "")
		f.Add(seed, "2026-07-28")
	}
	a := new(api)
	h := NewHTTP(HTTPOptions{Release: "1", API: a, Panicked: func(cause any) {
		if _, ok := cause.(runtime.Error); !ok || !strings.Contains(fmt.Sprint(cause), "nil pointer") { // there is no engine for a policy
			panic(cause)
		}
	}})
	f.Fuzz(func(t *testing.T, message, version string) {
		before := a.calls.Load()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", nil)
		r.Header = http.Header{"Content-Type": {"application/json"}, "Mcp-Protocol-Version": {version}}
		status, body := h.Respond(r, httpKey, []byte(message), "")
		require.Contains(t, []int{200, 202, 400, 404}, status)
		require.Equal(t, status == 202, len(body) == 0)
		var response struct{ JSONRPC string }
		require.True(t, len(body) == 0 || json.Unmarshal(body, &response) == nil && response.JSONRPC == "2.0", "%s", body)
		require.LessOrEqual(t, a.calls.Load()-before, int64(1))
	})
}

// A problem of the API is the text of the tool's error as it is, and no request is sent again.
func TestProblemOfTheAPI(t *testing.T) {
	for text, a := range map[string]*api{
		"Rate limit exceeded: wait 7 seconds.": {status: 429, body: `{"status":429,"title":"Too Many Requests","detail":"Rate limit exceeded: wait 7 seconds."}`},
		"The batch needs 2 usage points.":      {status: 402, body: `{"success":false,"error":{"code":"INSUFFICIENT_USAGE","message":"The batch needs 2 usage points.","required":2,"remaining":1}}`},
		"The service is stopping.":             {status: 503, body: `{"status":503,"error":"The service is stopping.","code":"REQUEST_CANCELLED"}`},
	} {
		status, body := newHTTP(t, a)(t.Context(), callOf(2, ""))
		require.Equal(t, 200, status)
		require.Contains(t, body, `"content":[{"type":"text","text":"`+text+`"}],"isError":true`)
		require.EqualValues(t, 1, a.calls.Load())
	}
	// A response without all addresses is not completed by a second request.
	a := &api{status: 200, body: `{"success":true,"partial":true,"results":[{"email":"0@mail.example","status":"error","result":null,"error":{"code":"DNS_TIMEOUT","message":"late"}}]}`}
	_, body := newHTTP(t, a)(t.Context(), callOf(2, ""))
	require.Contains(t, body, `"email":"1@mail.example","error":{"code":"REQUEST_CANCELLED"`)
	require.EqualValues(t, 1, a.calls.Load())
}

// A panic in a tool is an error of the call; a policy is not read where the API would refuse.
func TestPanicAndBlocked(t *testing.T) {
	var panicked atomic.Int64
	h := NewHTTP(HTTPOptions{API: new(api), Panicked: func(any) { panicked.Add(1) }}) // without an engine
	message := strings.Replace(callOf(1, ""), `"emails"`, `"policy":{},"emails"`, 1)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", nil)
	r.Header.Set("Content-Type", "application/json")
	status, body := h.Respond(r, httpKey, []byte(message), "")
	require.Equal(t, 200, status)
	require.Contains(t, string(body), `"code":-32603,"message":"the call failed because of a fault in the service`)
	require.EqualValues(t, 1, panicked.Load())
	_, body = h.Respond(r, httpKey, []byte(message), "Rate limit exceeded: wait 1 second.")
	require.Contains(t, string(body), `"text":"Rate limit exceeded: wait 1 second."`)
	require.EqualValues(t, 1, panicked.Load())
}
