// Package mcp serves checks of addresses to assistants by the Model Context
// Protocol, over standard input and output ([Serve]) and over HTTP ([NewHTTP]).
//
// It has three tools: check_email for one address, check_emails for up to 64, and
// explain, which says why. All have typed inputs and outputs whose descriptions say
// what a field means and what does not follow from it (text.go). With a policy, that of the
// server or of the call, the facts have a verdict too.
//
// The protocol is that of the official SDK, github.com/modelcontextprotocol/go-sdk,
// which follows its revisions. The package adds limits (connection), and responses to
// lines that are no message (messages), at which the SDK would end the session. It reads
// and writes nothing but the protocol, and keeps nothing of a call.
package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/addrspec/addrspec/origin/check"
)

// A Mode is where facts come from. It decides what the tools' descriptions
// promise.
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
	// Checker returns what checks the addresses of a call. It returns an error if the call's
	// policy cannot decide.
	Checker func(context.Context, Query) (check.Checker, error)
}

// A Query is what a call wants to know.
type Query struct {
	Details bool
	// The policy of the call: its document, or with Service the name of one of the account's.
	// If both are "", that of the server decides, if it has one.
	Policy, PolicyName string
}

// Serve serves one client until in ends or ctx does, which is no error. Calls in
// flight are finished if in ends, and cancelled if ctx does.
func Serve(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	responses := &lockedWriter{to: out}
	stdio := &sdk.IOTransport{Reader: io.NopCloser(newMessages(in, responses)), Writer: responses, MaxLineLength: -1} // messages has the limit
	err := newServer(ctx, o).Run(ctx, &transport{stdio, ctx})
	if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("the connection ended: the requests cannot be read, or nobody reads the responses: %w", err)
}

// A lockedWriter writes whole responses, of the SDK and of messages.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write writes one response.
func (w *lockedWriter) Write(response []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(response)
}

// Close does nothing.
func (*lockedWriter) Close() error { return nil }

// messages reads the lines of a client that are messages of JSON-RPC 2.0. To any other
// line it writes an error, and the session goes on.
type messages struct {
	lines     *bufio.Reader
	responses io.Writer
	rest      []byte // of the present line
}

func newMessages(in io.Reader, responses io.Writer) *messages {
	return &messages{lines: bufio.NewReaderSize(in, maxMessage), responses: responses}
}

// Read returns the next message, or a part of it.
func (m *messages) Read(p []byte) (n int, err error) {
	for len(m.rest) == 0 && err == nil {
		err = m.next()
	}
	n = copy(p, m.rest)
	m.rest = m.rest[n:]
	if n > 0 {
		return n, nil // bufio.Reader returns an error again
	}
	return n, err
}

// lineForm is what a line should be.
const lineForm = "a message is one JSON object a line"

// next reads a line, and refuses one that is no message. A blank one is skipped.
func (m *messages) next() error {
	line, err := m.lines.ReadSlice('\n')
	_, refusal := decode(line, "line", lineForm)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = m.lines.ReadSlice('\n')
		refusal = refuse(jsonrpc.CodeInvalidRequest, "the line is longer than %d bytes; split the call", maxMessage)
	}
	if refusal == nil {
		m.rest = line
		return err
	}
	if _, failed := m.responses.Write(refusal); failed != nil {
		return failed
	}
	return err
}

// decode returns the message in a text, nil if that is blank. If it is no message, it returns
// the response. what and form say in errors what the text is and should be.
func decode(text []byte, what, form string) (message jsonrpc.Message, refusal []byte) {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return nil, nil
	case !utf8.Valid(text):
		return nil, refuse(jsonrpc.CodeParseError, "the %s is not UTF-8; %s, in UTF-8", what, form)
	case !json.Valid(text):
		return nil, refuse(jsonrpc.CodeParseError, "the %s is not JSON; %s", what, form)
	}
	message, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil, refuse(jsonrpc.CodeInvalidRequest, "the %s is JSON, but not a message of JSON-RPC 2.0; a batch is none in this protocol", what)
	}
	return message, nil
}

// refuse returns an error without an id, which is null where it cannot be detected (JSON-RPC
// 2.0, section 5).
func refuse(code int64, format string, args ...any) []byte {
	return encode(jsonrpc.ID{}, &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)})
}

// encode returns the error response to a call. The SDK leaves an id out that it does not
// know.
func encode(id jsonrpc.ID, problem *jsonrpc.Error) []byte {
	response, _ := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		ID      any    `json:"id"`
		Error   any    `json:"error"`
	}{"2.0", id.Raw(), problem}) // a string or number, and strings: never fails
	return append(response, '\n')
}

func newServer(ctx context.Context, o Options) *sdk.Server {
	s := sdk.NewServer(
		&sdk.Implementation{Name: "addrspec", Title: "Email address checks", Version: o.Release},
		&sdk.ServerOptions{
			Instructions: instructions(o.Mode),
			SetCacheable: setCacheable,
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}, // the tools never change
		})
	s.AddReceivingMiddleware(refuseSubscriptions)
	addTools(s, &tools{o, ctx})
	return s
}

// toolsLife is how long a client may use a list of the tools again. They change with the
// release, which takes what was described before.
const toolsLife = time.Hour

// setCacheable lets clients, and caches for all of them, use what describes the tools again:
// it is the same for everybody.
func setCacheable(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
	c.TTLMs, c.CacheScope = int(toolsLife.Milliseconds()), "public"
}

const (
	// maxMessage is the longest message of a client in bytes: a call with 64
	// addresses of 4 KiB, every byte escaped with six.
	maxMessage = 2 << 20
	// maxCalls is how many calls are in flight at most. The SDK handles each in a
	// goroutine of its own; further ones stay unread. With the largest calls the process
	// peaks at about 250 MiB.
	maxCalls = 4
	// drainTimeout is how long calls may go on once the client's input has ended.
	drainTimeout = 30 * time.Second
)

// A transport limits the calls in flight on the connection.
type transport struct {
	sdk.Transport
	serving context.Context // ends with the server
}

// Connect implements [sdk.Transport].
func (t *transport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	return &connection{Connection: c, serving: t.serving, pending: map[jsonrpc.ID]bool{}, changed: make(chan struct{}, 1)}, err
}

// A connection counts the calls that have no response yet.
type connection struct {
	sdk.Connection
	serving context.Context

	mu      sync.Mutex
	pending map[jsonrpc.ID]bool
	changed chan struct{} // has a value after a response to a call
}

// Read returns the next message, a call only once fewer than maxCalls are in
// flight. At the end of the input it waits for the calls in flight: the SDK cancels
// them when it sees the end, but a request in a pipe should get its response.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		ctx, cancel := context.WithTimeout(c.serving, drainTimeout)
		defer cancel()
		_ = c.wait(ctx, 1)
		return nil, io.EOF
	}
	if call, ok := message.(*jsonrpc.Request); ok && call.IsCall() {
		if err := c.wait(ctx, maxCalls); err != nil {
			return nil, err
		}
		c.begin(call.ID)
	}
	return message, err
}

// wait returns once fewer than n calls are in flight.
func (c *connection) wait(ctx context.Context, n int) error {
	for c.count() >= n {
		select {
		case <-c.changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-c.serving.Done():
			return c.serving.Err()
		}
	}
	return nil
}

func (c *connection) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending)
}

// begin adds a call. One with the id of another in flight is refused by the SDK
// without a response, so it is not counted.
func (c *connection) begin(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[id] = true
}

// Write sends a message. A response ends its call.
func (c *connection) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if response, ok := message.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.pending, response.ID)
		c.mu.Unlock()
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
	return err
}

const methodListen = "subscriptions/listen"

var noSubscriptions = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: methodListen + ": the tools of this server never change"}

// refuseSubscriptions returns an error for subscriptions/listen. Such a call lasts
// until the client ends it, and nothing here ever changes.
func refuseSubscriptions(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if method == methodListen {
			return nil, noSubscriptions
		}
		return next(ctx, method, r)
	}
}
