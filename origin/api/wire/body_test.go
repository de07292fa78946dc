package wire

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

var testBody = Body{Limit: 100_000, TooLong: "Too long.", NotJSON: "No JSON."}

// ask returns a request with a body and, unless length is -1, its Content-Length.
func ask(body io.Reader, length int64) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", io.NopCloser(body))
	r.ContentLength = length
	r.Header.Set("Content-Type", JSON)
	return r
}

// A body of any length is read to its end, with the memory that was reserved for it before.
func TestBodiesOfEveryLength(t *testing.T) {
	for _, size := range []int{0, 1, firstRead - 1, firstRead, firstRead + 1, 2 * firstRead, testBody.Limit, testBody.Limit + 1} {
		text := strings.Repeat("x", size)
		for _, length := range []int64{int64(size), -1} {
			reserved := 0
			body, p := testBody.Read(ask(iotest.HalfReader(strings.NewReader(text)), length), func(bytes int) *Problem {
				reserved += bytes
				return nil
			})
			if size > testBody.Limit {
				require.Equal(t, "BODY_TOO_LARGE", p.Name)
				continue
			}
			require.Nil(t, p)
			require.Equal(t, text, string(body))
			require.GreaterOrEqual(t, reserved, len(body))
			require.LessOrEqual(t, reserved, max(firstRead, 2*size+2))
		}
	}
	none := Unavailable("no memory")
	_, p := testBody.Read(ask(strings.NewReader("{}"), 2), func(int) *Problem { return none })
	require.Same(t, none, p)
}

func TestMediaTypes(t *testing.T) {
	read := func(change func(http.Header), length int64) string {
		r := ask(strings.NewReader("{}"), length)
		change(r.Header)
		_, p := testBody.Read(r, func(int) *Problem { return nil })
		if p == nil {
			return ""
		}
		return p.Name
	}
	set := func(name string, values ...string) func(http.Header) {
		return func(h http.Header) { h[name] = values }
	}
	require.Empty(t, read(set("Content-Type", "application/json; charset=utf-8"), 2))
	require.Empty(t, read(set("Content-Encoding", "identity"), 2))
	for _, length := range []int64{2, -1} {
		require.Equal(t, "UNSUPPORTED_MEDIA_TYPE", read(set("Content-Type", "text/plain"), length))
		require.Equal(t, "UNSUPPORTED_MEDIA_TYPE", read(set("Content-Type"), length))
		require.Equal(t, "UNSUPPORTED_MEDIA_TYPE", read(set("Content-Encoding", "gzip"), length))
		require.Equal(t, "INVALID_REQUEST", read(set("Content-Type", JSON, JSON), length))
		require.Equal(t, "INVALID_REQUEST", read(set("Content-Encoding", "gzip, gzip"), length))
	}
}

// Why a body cannot be read is a problem of its own, and an interrupted one is the client's doing.
func TestReadProblems(t *testing.T) {
	for err, want := range map[error]string{
		context.Canceled:           "cancelled",
		os.ErrDeadlineExceeded:     "did not arrive in time; 3 bytes",
		io.ErrUnexpectedEOF:        "broke off after 3 bytes",
		syscall.ECONNRESET:         "broke off after 3 bytes",
		syscall.EPIPE:              "broke off after 3 bytes",
		errors.New("bad chunk"):    "malformed after 3 bytes",
		http.ErrBodyReadAfterClose: "malformed after 3 bytes",
	} {
		broken := io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(err))
		_, p := testBody.Read(ask(broken, -1), func(int) *Problem { return nil })
		require.Contains(t, p.Message, want)
		require.Equal(t, strings.Contains(want, "broke off"), p.ClientClosed)
	}
}

// Neither the names of announced trailers nor trailers are kept.
func TestTrailersAreDropped(t *testing.T) {
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("POST / HTTP/1.1\r\nHost: x\r\nTrailer: a,b,c\r\n" +
		"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: 1\r\nD: 2\r\n\r\n")))
	require.NoError(t, err)
	require.Len(t, r.Trailer, 3)
	watched, body := Watch(r)
	require.Empty(t, r.Trailer)
	text, err := io.ReadAll(watched.Body)
	require.NoError(t, err)
	require.Equal(t, "x", string(text))
	require.True(t, body.complete)
	require.Empty(t, r.Trailer)
	require.Empty(t, watched.Trailer)
}
