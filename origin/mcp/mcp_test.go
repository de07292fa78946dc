package mcp

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/origin/check"
)

// slow is a checker that counts its callers. With a gate, each sends when it begins
// and receives when it may go on.
type slow struct {
	now, most, calls atomic.Int64
	begun, gate      chan struct{}
}

// Check finds every address valid, but fails at the empty one.
func (s *slow) Check(ctx context.Context, records []check.Record, outcomes []check.Outcome) error {
	s.calls.Add(1)
	if n := s.now.Add(1); n > s.most.Load() {
		s.most.Store(n)
	}
	defer s.now.Add(-1)
	if s.gate != nil {
		s.begun <- struct{}{}
		<-s.gate
	}
	for n := range records {
		if records[n].Email == "" {
			return errors.New("no lists")
		}
		outcomes[n] = check.Outcome{JSON: []byte(`{"email":"` + records[n].Email + `","valid":true,"mx":true}`), MX: check.MXTrue}
	}
	return ctx.Err()
}

// connect serves a client in this process.
func connect(t *testing.T, checker check.Checker) *sdk.ClientSession {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(context.Background(), Options{Release: "1", Checker: func(context.Context, Query) (check.Checker, error) { return checker, nil }}, in, out)
		out.Close()
	}()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(context.Background(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		session.Close()
		require.NoError(t, <-ended)
	})
	return session
}

// At most maxCalls are in flight, and all get a response.
func TestCallsAreLimited(t *testing.T) {
	checker := &slow{begun: make(chan struct{}), gate: make(chan struct{})}
	session := connect(t, checker)
	var calls errgroup.Group
	for range 10 * maxCalls {
		calls.Go(func() error {
			result, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: "check_email", Arguments: map[string]any{"email": "jane@mail.example"}})
			if err == nil && result.IsError {
				err = result.GetError()
			}
			return err
		})
	}
	for range maxCalls {
		<-checker.begun
	}
	for range 9 * maxCalls {
		checker.gate <- struct{}{}
		<-checker.begun
	}
	close(checker.gate)
	require.NoError(t, calls.Wait())
	require.EqualValues(t, 10*maxCalls, checker.calls.Load())
	require.EqualValues(t, maxCalls, checker.most.Load())
}

// An error of the checks is one of the tool, and the session goes on.
func TestFailedCheck(t *testing.T) {
	session := connect(t, &slow{})
	result, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: "check_emails", Arguments: map[string]any{"emails": []string{"a@b", ""}}})
	require.NoError(t, err)
	require.True(t, result.IsError)
	require.Equal(t, "the check failed: no lists", result.Content[0].(*sdk.TextContent).Text)
}

func TestSummary(t *testing.T) {
	yes, no, text := true, false, func(s string) *string { return &s }
	for want, f := range map[string]facts{
		`"x": not a valid address.`:                                 {Email: "x"},
		`"a\x1b[31m@b": not a valid address.`:                       {Email: "a\x1b[31m@b"},
		`"a@b": valid; MX not looked up.`:                           {Email: "a@b", Valid: true},
		`"a@b": valid; the domain has MX records; public provider.`: {Email: "a@b", Valid: true, MX: &yes, Public: true},
		`"a@b": valid; the domain has no MX record (mail goes to its address record, if it has one); forwarding service.`: {Email: "a@b", Valid: true, MX: &no, Relay: true},
		`"a@b": valid; probably a misspelling of "c"; MX not looked up; disposable provider; role account (HR); local part looks random (0.97).`: {
			Email: "a@b", Valid: true, Typo: true, TypoSuggestion: text("c"), Disposable: true, Role: text("HR"), Gibberish: true, GibberishScore: 0.97},
		`"a@b": verdict "allow"; valid; MX not looked up.`:         {Email: "a@b", Valid: true, Verdict: &verdict{Action: "allow"}},
		`"a@b": verdict "block" ("invalid"); not a valid address.`: {Email: "a@b", Verdict: &verdict{Action: "block", Reason: text("invalid")}},
		`"a@b": verdict "review" ("role\n" by "review.reasons[1]"); valid; MX not looked up.`: {
			Email: "a@b", Valid: true, Verdict: &verdict{Action: "review", Reason: text("role\n"), Rule: text("review.reasons[1]")}},
	} {
		require.Equal(t, want, summary(&f))
	}
}
