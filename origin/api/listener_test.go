package api

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// A refusal is a request that net/http refuses before any handler runs, with the
// status, the code and a part of the sentence of the response.
type refusal struct {
	request  string
	status   int
	code     string
	sentence string
}

var refusals = map[string]*refusal{
	"percent sign in an address": {asks("100%@mail.example"), 400, "INVALID_REQUEST", "write %25"},
	"the same, without a key":    {"GET /v1/email/% HTTP/1.1\r\nHost: x\r\n\r\n", 400, "INVALID_REQUEST", "write %25"},
	"percent sign elsewhere":     {"GET /v1/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "INVALID_REQUEST", "write %25"},
	"no request line":            {"\x16\x03\x01\x02\x00\r\n\r\n", 400, "INVALID_REQUEST", "request line"},
	"no colon":                   {"GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400, "INVALID_REQUEST", "a header"},
	"no Host":                    {"GET / HTTP/1.1\r\n\r\n", 400, "INVALID_REQUEST", "missing required Host header"},
	"malformed Host":             {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "INVALID_REQUEST", "malformed Host header"},
	"header name":                {"GET / HTTP/1.1\r\nHost: x\r\na b: c\r\n\r\n", 400, "INVALID_REQUEST", "invalid header name"},
	"length of the body":         {"POST /v1/emails HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400, "INVALID_REQUEST", "length of the body"},
	"expectation":                {"POST /v1/emails HTTP/1.1\r\nHost: x\r\nExpect: x\r\nContent-Length: 2\r\n\r\n{}", 417, "BAD_REQUEST", "100-continue"},
	"long header":                {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", http.DefaultMaxHeaderBytes+8<<10) + "\r\n\r\n", 431, "BAD_REQUEST", "over 64 KiB"},
	"transfer coding":            {"POST /v1/emails HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: odd\r\n\r\n", 501, "BAD_REQUEST", "Transfer-Encoding"},
	"version":                    {"GET / HTTP/9.9\r\nHost: x\r\n\r\n", 505, "BAD_REQUEST", "use HTTP/1.1"},
}

// What net/http refuses gets one response in shape A, whatever was sent before on the
// connection, and whether its response was awaited or not.
func TestRefusalsOfNetHTTP(t *testing.T) {
	f := newFakes(t)
	address := f.listen(t, 10)
	const emails = `{"emails":["HTTP/1.1 417 @mail.example"]}`
	toBatch := fmt.Sprintf("POST /v1/emails %s%s\r\nContent-Length: %d\r\n", askHeader, goodKey, len(emails))
	served := map[string]string{
		"a GET":         asks("a@mail.example"),
		"a batch":       toBatch + "\r\n" + emails,
		"a refused key": "GET /v1/usage HTTP/1.1\r\nHost: x\r\n\r\n",
		"a 100":         toBatch + "Expect: 100-continue\r\n\r\n" + emails,
	}
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			c.requireResponse(t, dial(t, address).Send(c.request))
			kept := dial(t, address)
			for range 2 {
				for _, request := range served {
					finalResponse(kept.Send(request))
				}
			}
			c.requireResponse(t, kept.Send(c.request))
		})
		for before, request := range served {
			t.Run(name+", pipelined after "+before, func(t *testing.T) {
				w := dial(t, address).Send(request + c.request)
				finalResponse(w)
				c.requireResponse(t, w)
			})
		}
	}
	require.Contains(t, string(f.metrics(nil).body), fmt.Sprintf(`addrspec_requests_total{route="none",status="505"} %d`, 2+len(served)))
}

// finalResponse reads a response, and one with status 100 before it.
func finalResponse(w *origintest.TestConn) {
	if response, _ := w.Response(); response.StatusCode == http.StatusContinue {
		w.Response()
	}
}

func (c *refusal) requireResponse(t *testing.T, w *origintest.TestConn) {
	response, body := w.Response()
	require.Equal(t, c.status, response.StatusCode, body)
	require.Equal(t, "application/json", response.Header.Get("Content-Type"))
	require.Equal(t, "no-store", response.Header.Get("Cache-Control"))
	require.NotEmpty(t, response.Header.Get("X-Request-Id"))
	require.True(t, response.Close)
	require.Contains(t, body, fmt.Sprintf(`{"status":%d,"error":"`, c.status))
	require.Contains(t, body, `"code":"`+c.code+`"`)
	require.Contains(t, body, c.sentence)
	require.True(t, w.IsClosed(), "more follows")
}

// A body with Content-Length and Transfer-Encoding is read by its chunks, and the next
// request begins after the last one (RFC 9112 section 6.3). Go keeps the connection, which
// section 6.1 says to close; a proxy must not pass such a request on (deploy/threats.md).
func TestBodyWithTwoLengths(t *testing.T) {
	f := newFakes(t)
	address := f.listen(t, 10)
	for _, length := range []int{0, 3, 32, 1000} {
		kept := dial(t, address)
		for range 2 {
			kept.Send(fmt.Sprintf("POST /v1/emails %s%s\r\nContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n1e\r\n%s\r\n0\r\n\r\n%s",
				askHeader, goodKey, length, `{"emails":["a@mail.example"]} `, getHealth))
			response, body := kept.Response()
			require.Equal(t, http.StatusOK, response.StatusCode, body)
			require.Contains(t, body, `"total":1`)
			_, body = kept.Response()
			require.Equal(t, `{"status":"ok"}`, body)
		}
	}
}

var took = regexp.MustCompile(`"processing_time_ms":\d+`)

// A response is sent whole, whatever is in its addresses, and wherever net/http cuts it
// for its writes: at byte 4,096, the size of its buffer, at multiples of that, and at the
// end. Here every cut is once at every byte of a line that looks like one of net/http's
// own responses, on a kept connection, with each request awaited and all pipelined.
func TestResponsesThatContainResponses(t *testing.T) {
	f := newFakes(t)
	address := f.listen(t, 10)
	for _, line := range []string{"HTTP/1.1 400 Bad Request: ", "HTTP/1.1 417 ", "HTTP/1.1 431 ", "HTTP/1.0 501 ", "HTTP/1.1 505 "} {
		for size, cuts := range map[int]int{1950: 1, 6300: 3} { // with little after the last cut
			t.Run(fmt.Sprint(line, size), func(t *testing.T) {
				b := newLineBatch(f, line, size)
				for _, pipelined := range []bool{false, true} {
					seen := map[[2]int]bool{}
					for rounds := 0; len(seen) < cuts*len(line); rounds++ { // the digits of processing_time_ms move a cut
						require.Less(t, rounds, 100, "%v", seen)
						b.exchange(t, address, pipelined, seen)
					}
				}
			})
		}
	}
}

// A lineBatch is a batch of one address that repeats a line.
type lineBatch struct {
	line, body string
	want       string // the response's body, without its time
}

func newLineBatch(f *fakes, line string, size int) *lineBatch {
	b := &lineBatch{line: line, body: `{"emails":["` + strings.Repeat(line, size/len(line)) + `"]}`}
	b.want = took.ReplaceAllString(f.send(f.ask(http.MethodPost, "/v1/emails", b.body)).Body.String(), "")
	return b
}

const admitTwo = `{"operation":"batch","points":2,"domains":[{"name":"a.example","addresses":1},{"name":"b.example","addresses":1}]}`

// requests returns the batch once for each byte of the line, by which a longer request
// id moves the response. Between two batches are other requests.
func (b *lineBatch) requests() (texts []string) {
	for offset := range len(b.line) {
		texts = append(texts,
			fmt.Sprintf("POST /v1/emails %s%s\r\nX-Request-Id: %s\r\nContent-Length: %d\r\n\r\n%s",
				askHeader, goodKey, strings.Repeat("x", 1+offset), len(b.body), b.body),
			fmt.Sprintf("POST %s %s%s\r\n%s: secret\r\nContent-Length: %d\r\n\r\n%s",
				edgePath, askHeader, goodKey, headerEdgeSecret, len(admitTwo), admitTwo),
			asks("%22"+strings.ReplaceAll(b.line, " ", "%20")+"%22@mail.example"))
	}
	return texts
}

// exchange sends the requests on one connection, requires each response to be whole and
// adds the places of the line, as multiple and byte, at which a batch's response was cut.
func (b *lineBatch) exchange(t *testing.T, address string, pipelined bool, cuts map[[2]int]bool) {
	conn, err := net.DialTimeout("tcp", address, hung)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(hung)))
	if pipelined {
		go io.WriteString(conn, strings.Join(b.requests(), ""))
	}
	var raw bytes.Buffer
	in := bufio.NewReader(io.TeeReader(conn, &raw))
	for n, request := range b.requests() {
		if !pipelined {
			io.WriteString(conn, request)
		}
		raw.Next(raw.Len() - in.Buffered())
		response, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		got, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, response.StatusCode, "%d: %s", n, got)
		switch n % 3 {
		case 0:
			require.Equal(t, b.want, took.ReplaceAllString(string(got), ""))
			b.addCuts(cuts, raw.Bytes()[:raw.Len()-in.Buffered()])
		case 1:
			require.Equal(t, `{"mx":[true,true],"partial":false}`, string(got))
		case 2:
			require.Contains(t, string(got), b.line+`\"@mail.example"`)
		}
	}
}

// addCuts adds the places of the line that are at a multiple of 4,096 in a response.
func (b *lineBatch) addCuts(cuts map[[2]int]bool, response []byte) {
	for cut := 4096; cut < len(response); cut += 4096 {
		for at := range len(b.line) {
			if bytes.HasPrefix(response[cut-at:], []byte(b.line)) {
				cuts[[2]int{cut / 4096, at}] = true
			}
		}
	}
}
