package api

import (
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

// A body uses memory for about the bytes sent, whatever Content-Length is, and
// none once it gets a response or its client has disconnected.
func TestBodyMemory(t *testing.T) {
	for sent, want := range map[int]int{0: 4 << 10, 1000: 4 << 10, 10_000: 16 << 10, 300_000: 512 << 10} {
		t.Run(fmt.Sprint(sent), func(t *testing.T) {
			f := newFakes(t)
			w := dial(t, f.listen(t, 10)).Send(batchOf(maxBody, strings.Repeat(" ", sent)))
			is := func(bytes int) func() bool { return func() bool { return f.Memory.Used() == int64(bytes) } }
			require.Eventually(t, is(want), hung, time.Millisecond, "%d", f.Memory.Used())
			require.Never(t, func() bool { return !is(want)() }, 20*time.Millisecond, time.Millisecond)
			w.Close()
			require.Eventually(t, is(0), hung, time.Millisecond)
		})
	}
}

// An account at its limit gets 429. If the process's memory is used up, all
// accounts get 503.
func TestBodyMemoryUsedUp(t *testing.T) {
	f := newFakes(t)
	f.Memory = NewMemoryBudget(MinBodyMemory)
	address := f.listen(t, 10)
	ask := func() (int, string, string) {
		response, body := dial(t, address).Send(batchOf(30, `{"emails":["a@mail.example"]} `)).Response()
		return response.StatusCode, response.Header.Get("Retry-After"), body
	}
	own := f.Memory.reservation(7) // another request of the account
	own.set(MinBodyMemory / budgetShares)
	status, after, body := ask()
	require.Equal(t, 429, status, body)
	require.Equal(t, "1", after)
	require.Contains(t, body, `{"status":429,"title":"Too Many Requests","detail":"Rate limit exceeded: the headers, bodies and responses`)
	require.Contains(t, body, `1 seconds`)
	own.set(0)

	for account := range int64(budgetShares) {
		f.Memory.reservation(100 + account).set(MinBodyMemory)
	}
	status, after, body = ask()
	require.Equal(t, 503, status, body)
	require.Equal(t, "1", after)
	require.Contains(t, body, `{"status":503,"error":"The requests in progress use all the memory`)
	f.Memory = NewMemoryBudget(MinBodyMemory)
	status, _, body = ask()
	require.Equal(t, 200, status, body)
}

// Bodies of any length, with or without Content-Length, are read to the end.
func TestBodiesOfEveryLength(t *testing.T) {
	f := newFakes(t)
	w := dial(t, f.listen(t, 10))
	for _, size := range []int{30, firstRead - 2, firstRead - 1, firstRead, firstRead + 1, 2 * firstRead, 100_000, maxBody - 1, maxBody} {
		body := `{"emails":["a@mail.example"]` + strings.Repeat(" ", size-29) + "}"
		require.Len(t, body, size)
		response, text := w.Send(batchOf(size, body)).Response()
		require.Equal(t, 200, response.StatusCode, "%d: %s", size, text)
		half := size / 2
		response, text = w.Send(fmt.Sprintf("POST /v1/emails %s%s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n",
			askHeader, goodKey, half, body[:half], size-half, body[half:])).Response()
		require.Equal(t, 200, response.StatusCode, "%d in chunks: %s", size, text)
	}
	response, text := dial(t, f.listen(t, 10)).Send(fmt.Sprintf("POST /v1/emails %s%s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
		askHeader, goodKey, maxBody+1, strings.Repeat(" ", maxBody+1))).Response()
	require.Equal(t, 413, response.StatusCode, text)
	require.Eventually(t, func() bool { return f.Memory.Used() == 0 }, hung, time.Millisecond)
}
