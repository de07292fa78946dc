package mcp

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/semaphore"
)

const (
	// maxMessage is the longest message of a client in bytes: a call with 64 addresses of 4 KiB, all escaped with six.
	maxMessage = 2 << 20
	// maxCalls is how many calls are in flight at most. The SDK handles each in a goroutine of its own; further ones
	// stay unread. With the largest calls the process peaks at about 250 MiB.
	maxCalls = 4
	// drainTimeout is how long calls may go on once the client's input has ended.
	drainTimeout = 30 * time.Second
)

// Serve serves one client until in ends or ctx does, which is no error. Calls in flight are finished if in ends, and
// cancelled if ctx does.
func Serve(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	serving, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &connection{serving: serving, cancel: cancel, messages: make(chan jsonrpc.Message),
		slots: semaphore.NewWeighted(maxCalls), pending: map[jsonrpc.ID]bool{}, out: out}
	go c.receive(in)
	err := newServer(ctx, o).Run(ctx, c)
	if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("the connection ended: the requests cannot be read, or nobody reads the responses: %w", err)
}

// A connection has a message a line. The SDK's own ends the session at a line that is no message.
type connection struct {
	serving  context.Context // until the connection is closed
	cancel   context.CancelFunc
	messages chan jsonrpc.Message // closed when the input ends
	failed   error                // of the input; set before messages is closed
	slots    *semaphore.Weighted  // of calls in flight

	mu      sync.Mutex
	pending map[jsonrpc.ID]bool // the calls in flight
	out     io.Writer
}

// Connect implements [sdk.Transport].
func (c *connection) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// SessionID implements [sdk.Connection]: there are no sessions.
func (*connection) SessionID() string { return "" }

// Close ends Read.
func (c *connection) Close() error {
	c.cancel()
	return nil
}

// receive passes the messages of a client on. To a line that is no message it writes an error. A call waits until fewer
// than maxCalls are in flight. At the end of the input it waits for all of them: the SDK cancels them when it sees the
// end, but a request in a pipe should get its response.
func (c *connection) receive(in io.Reader) {
	defer close(c.messages)
	for lines := bufio.NewReaderSize(in, maxMessage); c.failed == nil; {
		line, err := lines.ReadSlice('\n')
		message, refusal := decode(line, "line", "a message is one JSON object a line")
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
			message = nil
			refusal = refuse(jsonrpc.CodeInvalidRequest, "the line is longer than %d bytes; split the call", maxMessage)
		}
		c.failed = err
		if refusal != nil {
			c.failed = cmp.Or(c.write(refusal), err)
		}
		if call, ok := message.(*jsonrpc.Request); ok && call.IsCall() {
			c.mu.Lock()
			again := c.pending[call.ID] // the SDK refuses it without a response, so it takes no slot
			c.pending[call.ID] = true
			c.mu.Unlock()
			if !again && c.slots.Acquire(c.serving, 1) != nil {
				return
			}
		}
		if message != nil {
			select {
			case c.messages <- message:
			case <-c.serving.Done():
				return
			}
		}
	}
	ctx, cancel := context.WithTimeout(c.serving, drainTimeout)
	defer cancel()
	_ = c.slots.Acquire(ctx, maxCalls)
}

// Read returns the next message.
func (c *connection) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case message, ok := <-c.messages:
		if !ok {
			return nil, cmp.Or(c.failed, io.EOF)
		}
		return message, nil
	case <-c.serving.Done():
		return nil, io.EOF
	}
}

// Write sends a message. A response ends its call.
func (c *connection) Write(_ context.Context, message jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(message)
	if err == nil {
		err = c.write(append(text, '\n'))
	}
	if response, ok := message.(*jsonrpc.Response); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.pending[response.ID] {
			delete(c.pending, response.ID)
			c.slots.Release(1)
		}
	}
	return err
}

func (c *connection) write(line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(line)
	return err
}
