package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/origin/check/pipeline"
)

const (
	initialize = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` +
		"\r\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	callLine = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_email","arguments":{"email":"user@mail.example"}}}`
)

// At most maxCalls are in flight, and what follows is unread, while calls wait and while nobody reads
// the responses. A call with the id of another takes no place. All others get their response.
func TestCallsAreLimited(t *testing.T) {
	const calls = 10 * maxCalls
	var now, most, written atomic.Int64
	begun, gate := make(chan struct{}, calls), make(chan struct{})
	o := Options{Checker: func(context.Context, Query) (pipeline.Checker, error) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		begun <- struct{}{}
		<-gate
		return &fixed{outcome: pipeline.Outcome{JSON: []byte(`{"email":"a@b","valid":true,"mx":true}`)}}, nil
	}}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	var both errgroup.Group
	both.Go(func() error { return Serve(t.Context(), o, in, out) })
	both.Go(func() error {
		_, err := io.WriteString(toServer, initialize+callLine+"\n")
		for n := 1; n <= calls && err == nil; n++ {
			_, err = io.WriteString(toServer, strings.Replace(callLine, `"id":1`, fmt.Sprintf(`"id":%d`, n), 1)+"\n")
			written.Add(1)
		}
		return errors.Join(err, toServer.Close())
	})
	responses := bufio.NewScanner(fromServer)
	require.True(t, responses.Scan()) // to initialize
	for range maxCalls {
		<-begun
	}
	require.LessOrEqual(t, written.Load(), int64(maxCalls+1))
	close(gate)
	ids := map[float64]bool{}
	for responses.Scan() {
		var response struct{ ID float64 }
		require.NoError(t, json.Unmarshal(responses.Bytes(), &response))
		require.LessOrEqual(t, written.Load(), int64(len(ids)+2*maxCalls+2))
		ids[response.ID] = true
		if len(ids) == calls {
			break
		}
	}
	require.NoError(t, both.Wait())
	require.Len(t, ids, calls)
	require.EqualValues(t, maxCalls, most.Load())
}

// A line that is no message gets an error, and the session goes on. The calls before the end of the
// input get their responses, and the output has nothing but the protocol.
func TestForeignLines(t *testing.T) {
	o, _ := offline(t)
	for name, c := range map[string]struct {
		line string
		code int
		says string
	}{
		"garbage":         {"hello", -32700, "not JSON"},
		"not UTF-8":       {strings.Replace(callLine, "user", "\xff", 1), -32700, "not UTF-8"},
		"two on a line":   {`{"jsonrpc":"2.0","method":"x"} {}`, -32700, "not JSON"},
		"half a pair":     {strings.Replace(callLine, "user", `\ud800`, 1), -32700, "half of a surrogate pair"},
		"a fraction":      {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, "with a fraction"},
		"a large id":      {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, -32600, "beyond 2^53"},
		"not a message":   {`{"email":"jane@mail.example"}`, -32600, "not a message"},
		"another version": {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600, "not a message"},
		"a batch":         {"[" + callLine + "]", -32600, "a batch is none"},
		"a deep call": {strings.Replace(callLine, `"email":`, `"policy":`+strings.Repeat(`{"a":`, 5000)+"7"+strings.Repeat("}", 5000)+`,"email":`, 1),
			-32600, "not a message"},
		"3 MiB": {strings.Replace(callLine, "user", strings.Repeat("a", 3<<20), 1), -32600, "longer than 2097152 bytes"},
	} {
		var out strings.Builder
		in := c.line + "\n" + initialize + c.line + "\n \n" + callLine + "\n" + c.line
		require.NoError(t, Serve(t.Context(), o, strings.NewReader(in), &out))
		refused, ids := 0, []any{}
		for line := range strings.Lines(out.String()) {
			var response struct {
				ID    any
				Error *struct {
					Code    int
					Message string
				}
			}
			require.NoError(t, json.Unmarshal([]byte(line), &response), name)
			ids = append(ids, response.ID)
			if response.Error == nil {
				continue
			}
			refused++
			require.Equal(t, c.code, response.Error.Code, name)
			require.Contains(t, response.Error.Message, c.says, name)
			require.NotContains(t, line, "mail.example")
		}
		require.Equal(t, 3, refused, "%s: %s", name, out.String())
		require.ElementsMatch(t, []any{nil, "i", nil, 1.0, nil}, ids, name)
	}
}

// A connection that breaks is an error that says so.
func TestBrokenConnection(t *testing.T) {
	o, _ := offline(t)
	require.ErrorContains(t, Serve(t.Context(), o, broken{}, new(strings.Builder)), "the connection ended: ")
	for _, in := range []string{initialize, "no message\n" + initialize} {
		err := Serve(t.Context(), o, strings.NewReader(in), broken{})
		require.ErrorIs(t, err, errBroken, in)
	}
}

// A context that ends, as by a signal, ends the session without an error, also while a call waits.
func TestServeEndsWithItsContext(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	in, toServer := io.Pipe()
	o := Options{Checker: func(ctx context.Context, _ Query) (pipeline.Checker, error) {
		interrupt()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	go io.WriteString(toServer, initialize+callLine+"\n")
	require.NoError(t, Serve(ctx, o, in, io.Discard))
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Read([]byte) (int, error)  { return 0, errBroken }
func (broken) Write([]byte) (int, error) { return 0, errBroken }
