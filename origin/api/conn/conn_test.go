package conn

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// hung is longer than anything takes, however slow the machine.
const hung = 2 * time.Minute

// get is a request for the path "/", which gets 200 at once.
const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// A server serves these paths besides "/":
//
//	/wait    waits for gate in the handler
//	/left    the same, after it has left
//	/read    reads the body
//	/repeat  responds with the body
type server struct {
	address  string
	registry *prometheus.Registry
	begun    chan struct{} // an element for each handler that waits
	gate     chan struct{}
}

const maxHeaderBytes = 32 << 10

func start(t *testing.T, limit int) *server {
	s := &server{registry: prometheus.NewRegistry(), begun: make(chan struct{}, 100), gate: make(chan struct{})}
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.address = inner.Addr().String()
	h := &http.Server{MaxHeaderBytes: maxHeaderBytes, DisableGeneralOptionsHandler: true}
	h.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := Of(r.Context())
		if !c.Begin() {
			panic(http.ErrAbortHandler)
		}
		defer c.Leave()
		switch r.URL.Path {
		case "/left":
			c.Leave()
			fallthrough
		case "/wait":
			s.begun <- struct{}{}
			<-s.gate
		case "/read":
			_, _ = io.Copy(io.Discard, r.Body)
		case "/repeat":
			text, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
			_, _ = w.Write(text)
		}
	})
	go h.Serve(Listen(h, inner, Config{limit, refusal, NewMetrics(s.registry)}))
	t.Cleanup(func() { h.Close() })
	return s
}

func refusal(status int) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 %d Refused\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno", status)
}

func (s *server) dial(t *testing.T) *origintest.TestConn { return origintest.Dial(t, s.address, hung) }

// metric returns the value of a metric of connections.
func (s *server) metric(t *testing.T, name string) float64 {
	families, err := s.registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == "addrspec_connections"+name {
			return f.Metric[0].GetGauge().GetValue() + f.Metric[0].GetCounter().GetValue()
		}
	}
	require.Fail(t, "no such metric")
	return 0
}

func requireStatus(t *testing.T, status int, c *origintest.TestConn) {
	t.Helper()
	response, body := c.Response()
	require.Equal(t, status, response.StatusCode, body)
}

// While connections of every kind fill the limit, each new connection is served and
// replaces the one that has been in no handler for the longest.
func TestNewConnectionReplacesLongestIdle(t *testing.T) {
	const limit = 200
	s := start(t, limit)
	var idle []*origintest.TestConn
	for n := range limit {
		c := s.dial(t)
		switch n % 4 {
		case 0: // silent
		case 1:
			c.Send("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
		case 2:
			requireStatus(t, 200, c.Send(get))
			c.Send("POST / HT")
		case 3:
			requireStatus(t, 200, c.Send(get))
		}
		idle = append(idle, c)
	}
	for n := range 2 * limit {
		requireStatus(t, 200, s.dial(t).Send(get))
		if n < limit {
			require.True(t, idle[n].IsClosed(), n)
		}
	}
	require.EqualValues(t, 2*limit, s.metric(t, "_shed_total"))
	require.LessOrEqual(t, s.metric(t, ""), float64(limit))
}

// Connections opened as fast as possible do not close one that is in a handler.
func TestConnectionInHandlerIsNeverReplaced(t *testing.T) {
	const limit, honest = 30, 20
	s := start(t, limit)
	var waiting []*origintest.TestConn
	for range honest {
		waiting = append(waiting, s.dial(t).Send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"))
		<-s.begun
	}
	var attackers sync.WaitGroup
	for range 4 {
		attackers.Go(func() {
			for n := range 300 {
				if c, err := net.Dial("tcp", s.address); err == nil {
					_, _ = io.WriteString(c, []string{"", "GET /", get, "\x00\r\n\r\n"}[n%4])
					defer c.Close()
				}
			}
		})
	}
	attackers.Wait()
	// Those that still wait to be accepted are, before this one. They could replace a connection
	// that has left its handler.
	requireStatus(t, 200, s.dial(t).Send(get))
	close(s.gate)
	for _, c := range waiting {
		requireStatus(t, 200, c)
	}
}

// If every connection is in a handler, a new one gets 503 and is closed. Once one has left
// its handler, it is replaced although it waits there.
func TestRefusedUntilOneLeaves(t *testing.T) {
	s := start(t, 1)
	defer close(s.gate)
	first := s.dial(t).Send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
	<-s.begun
	c := s.dial(t)
	requireStatus(t, http.StatusServiceUnavailable, c)
	require.True(t, c.IsClosed())
	require.EqualValues(t, 1, s.metric(t, "_refused_total"))

	s.gate <- struct{}{}
	requireStatus(t, 200, first)
	first.Send("GET /left HTTP/1.1\r\nHost: x\r\n\r\n")
	<-s.begun
	requireStatus(t, 200, s.dial(t).Send(get))
	require.True(t, first.IsClosed())
	require.EqualValues(t, 1, s.metric(t, "_shed_total"))
}

// What is no longer open does not count, however it was closed.
func TestClosedConnectionsDoNotCount(t *testing.T) {
	s := start(t, 100)
	for n := range 20 {
		c := s.dial(t).Send([]string{get, "GET", "\x00\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}[n%4])
		if n%4 != 1 {
			c.Response()
		}
		c.Close()
	}
	require.Eventually(t, func() bool { return s.metric(t, "") == 0 }, hung, time.Millisecond)
}

// fields returns short fields with different names.
func fields(count int) string {
	var text strings.Builder
	for n := range count {
		fmt.Fprintf(&text, "%c%c:\n", 'a'+n%26, 'a'+n/26)
	}
	return text.String()
}

// A header of 100 lines is served, a longer one gets 431, complete or not, whatever was
// sent before on the connection, awaited or not, and however it is cut.
func TestHeaderLines(t *testing.T) {
	s := start(t, 100)
	lines := strings.Repeat("a\n", 300)
	post := func(path string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", path, len(lines), lines)
	}
	most := "GET / HTTP/1.1\nHost: x\n" + fields(98) + "\n"
	for name, before := range map[string]string{
		"a GET":                  get,
		"a long header":          most,
		"a body of lines":        post("/read"),
		"a body that is ignored": post("/"),
		"a body in chunks": "POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n258\r\n" + lines +
			"\r\n0\r\n\r\n",
		"a body and empty lines": post("/read") + "\r\n\n",
	} {
		for _, piece := range []int{1, 50, 1 << 20} {
			t.Run(fmt.Sprintf("%s, by %d", name, piece), func(t *testing.T) {
				c := s.dial(t)
				send := func(text string) {
					for ; len(text) > piece; text = text[piece:] {
						c.Send(text[:piece])
					}
					c.Send(text)
				}
				for range 2 {
					send(before)
					requireStatus(t, 200, c)
					send(most)
					requireStatus(t, 200, c)
					send(before + most + before)
					for range 3 {
						requireStatus(t, 200, c)
					}
				}
				send("GET / HTTP/1.1\nHost: x\n" + fields(99) + "\n")
				requireStatus(t, 431, c)
				require.True(t, c.IsClosed())
			})
		}
	}
	requireStatus(t, 200, s.dial(t).Send(most))
	requireStatus(t, 431, s.dial(t).Send("GET / HTTP/1.1\nHost: x\n"+fields(99))) // and then nothing
	for commas, status := range map[int]int{mostCommas: 200, mostCommas + 1: 431} {
		requireStatus(t, status, s.dial(t).Send("GET / HTTP/1.1\r\nHost: x\r\nX: "+strings.Repeat("a,", commas)+"\r\n\r\n"))
	}
}

// The beginning of a pipelined header may go uncounted, but not more than mostRead.
func TestPipelinedHeaderLines(t *testing.T) {
	s := start(t, 100)
	for _, before := range []string{get, "POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"} {
		c := s.dial(t).Send(before + "GET / HTTP/1.1\nHost: x\n" + fields(mostLines+mostRead/len("aa:\n")))
		requireStatus(t, 200, c)
		requireStatus(t, 431, c)
	}
}

// A header of one long field gets 431 too.
func TestLongHeader(t *testing.T) {
	s := start(t, 100)
	for _, head := range []string{"GET /", "GET / HTTP/1.1\r\nHost: x\r\nX: "} {
		requireStatus(t, 200, s.dial(t).Send("GET /"+strings.Repeat("x", 32<<10-100)+" HTTP/1.1\r\nHost: x\r\n\r\n"))
		requireStatus(t, 431, s.dial(t).Send(head+strings.Repeat("x", maxHeaderBytes+8<<10)))
	}
}

// What net/http refuses gets the refusal with its status and nothing else, whatever was
// sent before on the connection, awaited or not.
func TestRefusalsOfNetHTTP(t *testing.T) {
	s := start(t, 100)
	const post = "POST /repeat HTTP/1.1\r\nHost: x\r\nContent-Length: 22\r\n"
	served := map[string]string{
		"nothing": "",
		"a GET":   get,
		"a POST":  post + "\r\nHTTP/1.1 417 Refused\r\n",
		"a 100":   post + "Expect: 100-continue\r\n\r\nHTTP/1.1 417 Refused\r\n",
	}
	for request, status := range map[string]int{
		"GET /% HTTP/1.1\r\nHost: x\r\n\r\n":                                          400,
		"\x16\x03\x01\x02\x00\r\n\r\n":                                                400,
		"GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n":                               400,
		"GET / HTTP/1.1\r\n\r\n":                                                      400,
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n":                    400,
		"POST / HTTP/1.1\r\nHost: x\r\nExpect: x\r\nContent-Length: 2\r\n\r\n{}":      417,
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: odd\r\n\r\n":                501,
		"GET / HTTP/9.9\r\nHost: x\r\n\r\n":                                           505,
		"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 40<<10) + "\r\n\r\n": 431,
	} {
		for before, text := range served {
			for _, awaited := range []bool{true, false} {
				t.Run(fmt.Sprintf("%.30q after %s, %t", request, before, awaited), func(t *testing.T) {
					c := s.dial(t)
					if awaited {
						c.Send(text)
					} else {
						c.Send(text + request)
					}
					if text != "" {
						response, _ := c.Response()
						if response.StatusCode == http.StatusContinue {
							response, _ = c.Response()
						}
						require.Equal(t, 200, response.StatusCode)
					}
					if awaited {
						c.Send(request)
					}
					response, body := c.Response()
					require.Equal(t, fmt.Sprint(status, " Refused"), response.Status)
					require.Equal(t, "no", body)
					require.True(t, c.IsClosed(), "more follows")
				})
			}
		}
	}
}

// A handler's response is sent as it is, wherever net/http cuts it for its writes, which
// may then begin like a response of net/http itself.
func TestResponsesThatLookLikeRefusals(t *testing.T) {
	s := start(t, 100)
	const line = "HTTP/1.1 400 Bad Request: "
	for _, pipelined := range []bool{true, false} {
		c := s.dial(t)
		var bodies []string
		for size := 6000; size < 6000+2*len(line); size++ {
			bodies = append(bodies, strings.Repeat(line, size/len(line)+1)[:size])
		}
		request := func(body string) string {
			return fmt.Sprintf("POST /repeat HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		}
		if pipelined {
			var all strings.Builder
			for _, body := range bodies {
				all.WriteString(request(body))
			}
			go c.Send(all.String())
		}
		for _, body := range bodies {
			if !pipelined {
				c.Send(request(body))
			}
			_, got := c.Response()
			require.Equal(t, body, got)
		}
	}
}

// However a header is cut, the same lines and commas are counted and the same bytes are
// passed, which are those of the header until it is too long.
func FuzzHeader(f *testing.F) {
	for _, text := range []string{"", get, "\r\n\n" + get, "GET / HTTP/1.1\n" + fields(200), "a\n\r\r\nb\n \n\n\n"} {
		f.Add([]byte(text), []byte{1})
		f.Add([]byte(text), []byte{3, 0, 1, 200})
	}
	f.Add([]byte("a"+strings.Repeat(",", 600)), []byte{7})
	f.Fuzz(func(t *testing.T, text, cuts []byte) {
		var whole, cut header
		passed, inPieces := bytes.Clone(text), bytes.Clone(text)
		whole.pass(passed)
		for n, rest := 0, inPieces; len(rest) > 0; n++ {
			size := len(rest)
			if len(cuts) > 0 {
				size = min(size, 1+int(cuts[n%len(cuts)]))
			}
			cut.pass(rest[:size])
			rest = rest[size:]
		}
		require.Equal(t, whole, cut)
		require.Equal(t, passed, inPieces)

		var want header
		end := len(text) // of what is counted
		for at := 0; at < end && !want.ended; {
			line, _, complete := strings.Cut(string(text[at:]), "\n")
			if left := mostCommas + 1 - want.commas; strings.Count(line, ",") >= left {
				for end = at; left > 0; end++ {
					if text[end] == ',' {
						left--
					}
				}
				want.commas = mostCommas + 1
				break
			}
			want.commas += strings.Count(line, ",")
			at += len(line) + 1
			switch empty := line == "" || line == "\r"; {
			case !complete:
			case empty:
				want.ended = want.lines > 0
			default:
				want.lines++
				if want.lines > mostLines {
					end = at
				}
			}
		}
		require.Equal(t, [2]int{want.lines, want.commas}, [2]int{whole.lines, whole.commas})
		require.Equal(t, want.ended, whole.ended)
		require.Equal(t, string(text[:end])+strings.Repeat("x", len(text)-end), string(passed))
	})
}

// A handler can use the connection of a request that has none.
func TestNoConnection(t *testing.T) {
	c := Of(t.Context())
	require.Nil(t, c)
	require.True(t, c.Begin())
	c.Leave()
	require.Nil(t, Of(Without(context.WithValue(t.Context(), key{}, new(Conn)))))
}
