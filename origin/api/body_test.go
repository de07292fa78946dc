package api

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// batchOf returns a batch request with a Content-Length of announced bytes.
func batchOf(announced int, body string) string {
	return fmt.Sprintf("POST /v1/emails %s%s\r\nContent-Length: %d\r\n\r\n%s", askHeader, goodKey, announced, body)
}

// A body uses memory for about the bytes sent, whatever Content-Length is, and none once it gets a response
// or its client has disconnected.
func TestBodyMemory(t *testing.T) {
	for sent, want := range map[int]int{0: 4 << 10, 1000: 4 << 10, 10_000: 16 << 10, 20_000: 64 << 10, 300_000: 512 << 10} {
		t.Run(fmt.Sprint(sent), func(t *testing.T) {
			f := newFakes(t)
			w := dial(t, f.listen(t, 10)).Send(batchOf(batchBody.Limit, strings.Repeat(" ", sent)))
			is := func(bytes int) func() bool { return func() bool { return f.MemoryInUse() == bytes } }
			require.Eventually(t, is(want), hung, time.Millisecond, "%d", f.MemoryInUse())
			require.Never(t, func() bool { return !is(want)() }, 20*time.Millisecond, time.Millisecond)
			w.Close()
			require.Eventually(t, is(0), hung, time.Millisecond)
		})
	}
}

// fill takes pieces of the memory, each for an account of its own, until there is no more for such a piece.
func (f *fakes) fill(t *testing.T, account int64, piece int) {
	ended, end := context.WithCancel(t.Context())
	end() // a take does not wait
	for f.memory.Take(ended, owner{account: account}, piece) == nil {
		account++
	}
}

// An account whose requests use its share gets 429. If the memory of all is used up, accounts get 503. The
// last quarter is for small requests, so a GET gets its response while batches wait for memory.
func TestMemoryUsedUp(t *testing.T) {
	const quarter = MinMemory / 4
	f := newFakes(t)
	f.memory = newMemory(MinMemory)
	address := f.listen(t, 10)
	f.resolver.ask["mail.example"] = func(context.Context) (bool, error) { return true, nil }
	ask := func(text string) (int, string, string) {
		response, body := dial(t, address).Send(text).Response()
		return response.StatusCode, response.Header.Get("Retry-After"), body
	}
	small := batchOf(30, `{"emails":["a@mail.example"]} `)
	large := batchOf(100_000, `{"emails":["a@mail.example"]}`+strings.Repeat(" ", 100_000-29))

	require.NoError(t, f.memory.Take(t.Context(), owner{account: 7}, quarter))
	status, after, body := ask(small)
	require.Equal(t, 429, status, body)
	require.Equal(t, "1", after)
	require.Contains(t, body, `"detail":"Rate limit exceeded: the bodies, results and responses of the account's requests`)
	require.Contains(t, body, `wait 1 second.`)
	f.memory.Free(owner{account: 7}, quarter)

	f.fill(t, 1000, memoryStep)
	filled := f.MemoryInUse()
	status, after, body = ask(large)
	require.Equal(t, 503, status, body)
	require.Equal(t, "1", after)
	require.Contains(t, body, `{"status":503,"error":"The requests in progress use all the memory`)
	for _, text := range []string{small, asks("a@mail.example")} {
		status, _, body = ask(text)
		require.Equal(t, 200, status, body)
	}
	// The handlers free their memory after their responses were read.
	require.Eventually(t, func() bool { return f.MemoryInUse() == filled }, hung, time.Millisecond)
	f.fill(t, 2000, memoryStep/4)
	status, _, body = ask(asks("a@mail.example"))
	require.Equal(t, 503, status, body)
}
