package mcp

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/addrspec/addrspec/origin/check/client"
	"github.com/addrspec/addrspec/origin/check/pipeline"
	"github.com/addrspec/addrspec/origin/outgoing"
	"github.com/addrspec/addrspec/wasm/host"
)

// HTTPOptions configure an [HTTP].
type HTTPOptions struct {
	Release string
	// API serves the operations of the tools: that of the service, in this process.
	API http.Handler
	// Engine decides by the policies that calls bring.
	Engine *host.Engine
	// Panicked is called with the cause of a panic in a tool.
	Panicked func(cause any)
}

// HTTP serves the protocol over HTTP, in its stateless form: each POST has one message and gets its response as JSON,
// no session is kept and no stream opened. So any replica can serve any message.
//
// A call of a tool is a request to the API with the caller's key, so it costs and is limited, refused, charged and
// logged as any other. Everything else costs nothing.
type HTTP struct {
	HTTPOptions
	handler *sdk.StreamableHTTPHandler
}

// NewHTTP returns an HTTP.
func NewHTTP(o HTTPOptions) *HTTP {
	h := &HTTP{HTTPOptions: o}
	server := newServer(context.Background(), Options{Release: o.Release, Mode: Service, Checker: h.checker})
	server.AddReceivingMiddleware(h.guard)
	h.handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true,
		MaxRequestBodyBytes: -1, // the API has read the message
		// A proxy on this machine passes the name on that its clients use. A page that rebinds a
		// name to this machine gains nothing: it has no key, and no browser adds one.
		DisableLocalhostProtection: true,
	})
	return h
}

// Respond responds to the message of a POST whose key is good. The body is empty for a message that gets no response.
// blocked is why the API would refuse an operation with the key now, "" if it would not.
func (h *HTTP) Respond(r *http.Request, key string, message []byte, blocked string) (status int, body []byte) {
	given, refusal := decode(message, "body", "a POST has one JSON object")
	if refusal != nil {
		return http.StatusBadRequest, refusal
	}
	if given == nil {
		return http.StatusBadRequest, refuse(jsonrpc.CodeParseError, "the body is empty; a POST has one JSON object")
	}
	call, _ := given.(*jsonrpc.Request)
	if call != nil && call.Method == methodListen { // for which the SDK opens a stream
		return http.StatusNotFound, encode(call.ID, noSubscriptions)
	}
	c := &caller{api: h.API, request: r, key: key, blocked: blocked}
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
	r.Header = r.Header.Clone()
	r.Header.Set("Accept", "application/json, text/event-stream") // the SDK requires both, and opens no stream
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(message)), int64(len(message))
	response, body := outgoing.Record(h.handler, r)
	if response.StatusCode < 300 || response.Header.Get("Content-Type") == "application/json" {
		return response.StatusCode, body
	}
	var id jsonrpc.ID
	if call != nil {
		id = call.ID
	}
	why := string(bytes.TrimSpace(body)) // the SDK refuses some requests in plain text
	return response.StatusCode, encode(id, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: why})
}

type caller struct {
	api     http.Handler
	request *http.Request // the POST
	key     string
	blocked string
}

type callerKey struct{}

// passed are the headers of a POST that the operation of a tool has too.
var passed = []string{"Origin", "Idempotency-Key", "X-Request-Id"}

// RoundTrip sends the operation of a tool to the API.
func (c *caller) RoundTrip(r *http.Request) (*http.Response, error) {
	for _, name := range passed {
		if values := c.request.Header[name]; len(values) > 0 {
			r.Header[name] = values
		}
	}
	response, _ := outgoing.Record(c.api, r)
	return response, nil
}

// guard ends a call with its POST, which the SDK does for the newest protocol only, and keeps a panic from ending the
// process.
func (h *HTTP) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(callerOf(ctx).request.Context(), cancel)()
		defer func() {
			if cause := recover(); cause != nil {
				h.Panicked(cause)
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the call failed because of " +
					"a fault in the service; try again, and if it persists, contact the operator"}
			}
		}()
		return next(ctx, method, r)
	}
}

func callerOf(ctx context.Context) *caller { return ctx.Value(callerKey{}).(*caller) }

// checker returns what checks the addresses of a call. A policy that the call brings decides here, and is not accepted
// where the API would refuse the call.
func (h *HTTP) checker(ctx context.Context, q Query) (pipeline.Checker, error) {
	c := callerOf(ctx)
	api, err := client.New(client.Config{URL: "http://localhost", Key: c.key, Once: true, Transport: c})
	if err != nil {
		return nil, err
	}
	checker := &client.Checker{Client: api, Details: q.Details, Policy: q.PolicyName}
	switch {
	case q.Policy == "":
		return checker, nil
	case c.blocked != "":
		return nil, &client.Problem{Message: c.blocked}
	}
	policy, err := h.Engine.NewPolicy(ctx, q.Policy)
	if err != nil {
		return nil, err
	}
	checker.Decider, err = pipeline.NewDecider(h.Engine.View(), policy)
	if err != nil {
		return nil, &client.Problem{Message: "The policy is refused: " + err.Error() + "."}
	}
	return checker, nil
}
