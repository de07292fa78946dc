package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxMessage is the longest message of a client in bytes: a call with 64
	// addresses of 4 KiB, every byte escaped with six.
	maxMessage = 2 << 20
	// maxCalls is how many calls are under way at most. The SDK handles each in a
	// goroutine of its own; further ones stay unread. With the largest calls the process
	// peaks at about 250 MiB.
	maxCalls = 4
	// drainTimeout is how long calls may go on once the client's input has ended.
	drainTimeout = 30 * time.Second
)

// A transport limits the calls under way on the connection.
type transport struct {
	sdk.Transport
	serving context.Context // ends with the server
}

// Connect implements [sdk.Transport].
func (t *transport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	return &connection{Connection: c, serving: t.serving, pending: map[jsonrpc.ID]bool{}, changed: make(chan struct{}, 1)}, err
}

// A connection counts the calls that have not been answered.
type connection struct {
	sdk.Connection
	serving context.Context

	mu      sync.Mutex
	pending map[jsonrpc.ID]bool
	changed chan struct{} // has a value after a call was answered
}

// Read returns the next message, a call only once fewer than maxCalls are under
// way. At the end of the input it waits for the calls under way: the SDK cancels
// them when it sees the end, but what was asked in a pipe should be answered.
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

// wait returns once fewer than n calls are under way.
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

// begin adds a call. One with the id of another under way is refused by the SDK
// without an answer, so it is not counted.
func (c *connection) begin(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[id] = true
}

// Write sends a message. An answer ends its call.
func (c *connection) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if answer, ok := message.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.pending, answer.ID)
		c.mu.Unlock()
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
	return err
}

// refuseSubscriptions answers subscriptions/listen with an error. Such a call lasts
// until the client ends it, and nothing here ever changes.
func refuseSubscriptions(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if method == "subscriptions/listen" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("%s: the tools of this server never change", method)}
		}
		return next(ctx, method, r)
	}
}
