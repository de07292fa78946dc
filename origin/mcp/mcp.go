// Package mcp serves checks of addresses to assistants by the Model Context Protocol, over standard input and output
// ([Serve]) and over HTTP ([NewHTTP]).
//
// It has three tools: check_email for one address, check_emails for up to 64, and explain, which says why. All have
// typed inputs and outputs whose descriptions say what a field means and what does not follow from it (text.go). With
// a policy, that of the server or of the call, the facts have a verdict too.
//
// The protocol is that of the official SDK, github.com/modelcontextprotocol/go-sdk, which follows its revisions. The
// package adds limits, and responses to lines that are no message (stdio.go), at which the SDK would end the session.
// It reads and writes the protocol alone, and keeps nothing of a call.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

// A Mode is where facts come from. It decides what the tools' descriptions promise.
type Mode uint8

// Offline looks nothing up, DNS looks MX records up, and Service asks an addrspec
// service, which charges points.
const (
	Offline Mode = iota
	DNS
	Service
)

// Options configure a server.
type Options struct {
	Release string
	Mode    Mode
	// Checker returns what checks the addresses of a call, or an error if the call's policy cannot decide.
	Checker func(context.Context, Query) (pipeline.Checker, error)
}

// A Query is what a call wants to know.
type Query struct {
	Details bool
	// The policy of the call: its document, or with Service the name of one of the account's. If both are "", that
	// of the server decides, if it has one.
	Policy, PolicyName string
}

// decode returns the message in a text, nil if that is blank, or the response if it is no message. what and form say
// in errors what the text is and should be.
func decode(text []byte, what, form string) (message jsonrpc.Message, refusal []byte) {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return nil, nil
	case !utf8.Valid(text):
		return nil, refuse(jsonrpc.CodeParseError, "the %s is not UTF-8; %s, in UTF-8", what, form)
	case !json.Valid(text):
		return nil, refuse(jsonrpc.CodeParseError, "the %s is not JSON; %s", what, form)
	case !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)):
		return nil, refuse(jsonrpc.CodeParseError, "the %s has half of a surrogate pair (\\ud800 to \\udfff) in a string; send both halves", what)
	}
	message, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil, refuse(jsonrpc.CodeInvalidRequest,
			"the %s is JSON, but not a message of JSON-RPC 2.0; a batch is none in this protocol", what)
	}
	// The SDK makes each number an integer of 64 bits, and the protocol allows no other. The response must have it.
	var given struct {
		ID any `json:"id"`
	}
	_ = json.Unmarshal(text, &given) // the SDK has read it
	id, isNumber := given.ID.(float64)
	if isNumber && (id != math.Trunc(id) || math.Abs(id) > 1<<53-1) {
		return nil, refuse(jsonrpc.CodeInvalidRequest, "the id of the %s is a number with a fraction or beyond 2^53; send an integer or a string", what)
	}
	return message, nil
}

// refuse returns an error without an id, which is null where it cannot be detected (JSON-RPC 2.0, section 5).
func refuse(code int64, format string, args ...any) []byte {
	return encode(jsonrpc.ID{}, &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)})
}

// encode returns the error response to a call. The SDK leaves an id out that it does not know.
func encode(id jsonrpc.ID, problem *jsonrpc.Error) []byte {
	response, _ := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		ID      any    `json:"id"`
		Error   any    `json:"error"`
	}{"2.0", id.Raw(), problem}) // a string or number, and strings: never fails
	return append(response, '\n')
}

// toolsLife is how long a client, or a cache for all clients, may use again what describes the tools: that is the same
// for everybody. Tools change with the release, which takes what was described before.
const toolsLife = time.Hour

const methodListen = "subscriptions/listen"

var noSubscriptions = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound,
	Message: methodListen + ": the tools of this server never change"}

func newServer(ctx context.Context, o Options) *sdk.Server {
	s := sdk.NewServer(
		&sdk.Implementation{Name: "addrspec", Title: "Email address checks", Version: o.Release},
		&sdk.ServerOptions{
			Instructions: textInstructions + modes[o.Mode].facts,
			SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
				c.TTLMs, c.CacheScope = int(toolsLife.Milliseconds()), "public"
			},
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}, // the tools never change
		})
	// A call of subscriptions/listen lasts until the client ends it, and the tools never change.
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if method == methodListen {
				return nil, noSubscriptions
			}
			return next(ctx, method, r)
		}
	})
	(&tools{o, ctx}).addTo(s)
	return s
}
