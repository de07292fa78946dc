package client

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

func emails(count int) (list []string) {
	for n := range count {
		list = append(list, fmt.Sprintf("user%d@mail.example", n))
	}
	return list
}

func TestBatch(t *testing.T) {
	c, f := newFake(t, checked)
	given := []string{"a@mail.example", "b@mail.example", "a@mail.example", "bad\xff@mail.example", strings.Repeat("x", maxBody), `<&"\>@mail.example`}
	items, err := c.Batch(context.Background(), given, false)
	require.NoError(t, err)
	require.Len(t, items, len(given))
	for _, n := range []int{0, 1, 2, 5} {
		require.Equal(t, resultOf(given[n], false), string(items[n].Result), "the same bytes as the service sent")
	}
	require.Equal(t, Item{Code: codeInvalid, Message: textNotUTF8}, items[3])
	require.Equal(t, Item{Code: codeInvalid, Message: textTooLong}, items[4])
	require.Len(t, f.requests, 1)
	require.Equal(t, []string{"a@mail.example", "b@mail.example", `<&"\>@mail.example`}, f.requests[0].emails, "each once, and none that cannot be sent")
	require.Equal(t, "/base/v1/emails", f.requests[0].path)
	require.Len(t, f.requests[0].idempotency, 43)
}

func TestBatchWithDetails(t *testing.T) {
	c, f := newFake(t, checked)
	items, err := c.Batch(context.Background(), emails(1), true)
	require.NoError(t, err)
	require.Equal(t, resultOf("user0@mail.example", true), string(items[0].Result))
	require.True(t, f.requests[0].details)
	require.NoError(t, err)
}

// A result that has more members than were asked for is cut to those.
func TestBatchDropsUnknownMembers(t *testing.T) {
	c, _ := newFake(t, func(s seen) (*http.Response, error) {
		item := strings.Replace(itemText(s.emails[0], true), `"valid"`, "\n \"later\": [1],\n \"valid\"", 1)
		return response(200, envelopeOf(false, item))
	})
	items, err := c.Batch(context.Background(), emails(1), false)
	require.NoError(t, err)
	require.Equal(t, resultOf("user0@mail.example", false), string(items[0].Result))
}

// Many addresses, and long ones, go into several requests, each within the limits.
func TestBatchIsSplit(t *testing.T) {
	c, f := newFake(t, checked)
	given := emails(130)
	for n := range 5 {
		given = append(given, strings.Repeat(string(rune('a'+n)), 400<<10))
	}
	given = append(given, strings.Repeat("\x01", 150<<10)) // six bytes each
	items, err := c.Batch(context.Background(), given, false)
	require.NoError(t, err)
	var sent []string
	for _, r := range f.requests {
		require.LessOrEqual(t, len(r.emails), MaxBatch)
		require.LessOrEqual(t, len(r.body), maxBody)
		sent = append(sent, r.emails...)
	}
	require.Equal(t, given, sent)
	for n := range items {
		require.NotEmpty(t, items[n].Result)
	}
	require.Greater(t, len(f.requests), 5)
}

// After a partial answer, only the missing addresses are sent, as a new batch.
func TestPartialAnswerIsCompleted(t *testing.T) {
	c, f := newFake(t, func(s seen) (*http.Response, error) {
		if s.number == 1 {
			return response(200, envelopeOf(true, itemText(s.emails[1], false), itemText(s.emails[3], false)))
		}
		return checked(s)
	})
	given := emails(5)
	items, err := c.Batch(context.Background(), given, false)
	require.NoError(t, err)
	for n, email := range given {
		require.Equal(t, resultOf(email, false), string(items[n].Result))
	}
	require.Len(t, f.requests, 2)
	require.Equal(t, []string{given[0], given[2], given[4]}, f.requests[1].emails)
	require.NotEqual(t, f.requests[0].idempotency, f.requests[1].idempotency)
}

func TestItemErrors(t *testing.T) {
	c, _ := newFake(t, func(s seen) (*http.Response, error) {
		return response(200, envelopeOf(false, `{"email":"user0@mail.example","status":"error","result":null,"error":{"code":"DNS_TIMEOUT","message":"DNS lookup timed out for domain mail.example"}}`))
	})
	items, err := c.Batch(context.Background(), emails(1), false)
	require.NoError(t, err)
	require.Equal(t, Item{Code: "DNS_TIMEOUT", Message: "DNS lookup timed out for domain mail.example"}, items[0])
}

// The Idempotency-Key depends on the run and the batch alone.
func TestIdempotencyKey(t *testing.T) {
	key := func(runID string, emails []string, details bool) string {
		f := &fake{answer: checked}
		c, err := New(Config{URL: "http://localhost", Key: testKey, RunID: runID, transport: f})
		require.NoError(t, err)
		_, err = c.Batch(context.Background(), emails, details)
		require.NoError(t, err)
		return f.requests[0].idempotency
	}
	const run = "0123456789abcdef"
	require.Equal(t, key(run, emails(2), false), key(run, emails(2), false))
	require.NotEqual(t, key(run, emails(2), false), key(run, emails(2), true))
	require.NotEqual(t, key(run, emails(2), false), key(run, emails(3), false))
	require.NotEqual(t, key("", emails(2), false), key("", emails(2), false), "random by default")
}

// At most Concurrency batches are under way; with few points left, one.
func TestConcurrency(t *testing.T) {
	for left, most := range map[string]int64{"1000000": Concurrency, "100": 1} {
		synctest.Test(t, func(t *testing.T) {
			var now, highest atomic.Int64
			c, _ := newFake(t, func(s seen) (*http.Response, error) {
				if n := now.Add(1); s.number > 1 && n > highest.Load() {
					highest.Store(n)
				}
				time.Sleep(time.Second)
				now.Add(-1)
				answer, err := checked(s)
				answer.Header.Set("RateLimit", `"points";r=`+left+`;t=9`)
				return answer, err
			})
			_, err := c.Batch(context.Background(), emails(1), false)
			require.NoError(t, err)
			var group errgroup.Group
			for n := range 20 {
				group.Go(func() error {
					_, err := c.Batch(context.Background(), []string{fmt.Sprint(n, "@mail.example")}, false)
					return err
				})
			}
			require.NoError(t, group.Wait())
			require.Equal(t, most, highest.Load(), "%s points left", left)
		})
	}
}
