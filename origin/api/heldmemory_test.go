package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/wasm/host"
)

// A waitingRequest is a request that waits for DNS, whose servers do not reply.
type waitingRequest struct {
	name, text string
	goroutines int      // for its lookups; 0 if its own does the only one
	batch      []string // its addresses; nil if it is no batch
	flags      host.Flags
}

// waitingRequests has each kind of request, for addresses at one domain or each at its own.
func waitingRequests(local string, ownDomains bool) (list []waitingRequest) {
	domain := func(n int) string {
		if ownDomains {
			return fmt.Sprintf("silent%d.example", n)
		}
		return "silent.example"
	}
	lookups := func(addresses int) int {
		if ownDomains {
			return addresses
		}
		return 1
	}
	batch := func(name string, addresses int, details bool) {
		var given struct {
			Emails  []string `json:"emails"`
			Details bool     `json:"details"`
		}
		r := waitingRequest{name: name, goroutines: lookups(addresses)}
		if addresses == 1 {
			r.goroutines = 0
		}
		if given.Details = details; details {
			r.flags = host.Details
		}
		for n := range addresses {
			given.Emails = append(given.Emails, fmt.Sprintf(local+"@%s", n, domain(n)))
		}
		body, _ := json.Marshal(given)
		r.text, r.batch = batchOf(len(body), string(body)), given.Emails
		list = append(list, r)
	}
	batch("batch of 1", 1, false)
	batch("batch of 15", 15, false)
	batch("batch of 17", 17, false)
	batch("batch of 64", maxUnique, false)
	batch("batch of 64 with details", maxUnique, true)
	single := url.PathEscape(fmt.Sprintf(local+"@%s", 0, domain(0)))
	list = append(list, waitingRequest{name: "single", text: asks(single)}, waitingRequest{name: "single with details", text: asks(single + "?details=true")})
	var domains []string
	for n := range lookups(maxUnique) {
		domains = append(domains, fmt.Sprintf(`{"name":%q,"addresses":1}`, domain(n)))
	}
	body := fmt.Sprintf(`{"operation":"batch","points":64,"domains":[%s]}`, strings.Join(domains, ","))
	text := fmt.Sprintf("POST %s %s%s\r\n%s: secret\r\nContent-Length: %d\r\n\r\n%s", edgePath, askHeader, goodKey, headerEdgeSecret, len(body), body)
	return append(list, waitingRequest{name: "admission", text: text, goroutines: len(domains)})
}

// A countingResolver counts the lookups that it has been asked for.
type countingResolver struct {
	*mx.Resolver
	asked atomic.Int64
}

func (r *countingResolver) Lookup(ctx context.Context, account int64, domain string) (mx.Result, error) {
	r.asked.Add(1)
	return r.Resolver.Lookup(ctx, account, domain)
}

// newSilentResolver returns a resolver whose server does not reply.
func newSilentResolver(t testing.TB) *countingResolver {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { silent.Close() })
	r, err := mx.New(mx.Config{Servers: []string{silent.LocalAddr().String()}, Timeout: hung})
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	return &countingResolver{Resolver: r}
}

// What a request that waits for DNS has reserved is enough for what it holds, by the sizes
// of its values, and not much more. BenchmarkMemoryOfWaiting shows the rest, the stacks.
func TestWaitingRequestsReserveWhatTheyHold(t *testing.T) {
	for _, local := range []string{"a%d", "jane.doe+%d", strings.Repeat("x", 62) + "%d", `"%d` + strings.Repeat(`\"`, 30) + `"`} {
		for _, own := range []bool{false, true} {
			for _, r := range waitingRequests(local, own) {
				t.Run(fmt.Sprintf("%.9s, own domains %t, %s", local, own, r.name), func(t *testing.T) {
					w := newWaiting(t, DefaultMemory)
					w.send(t, &r)
					held := r.held(t, w.fakes)
					require.GreaterOrEqual(t, w.MemoryInUse(), held)
					require.Less(t, w.MemoryInUse(), 3*held)
				})
			}
		}
	}
}

// held returns the bytes that the request's values have when its response is complete.
func (r *waitingRequest) held(t *testing.T, f *fakes) int {
	held := waitMemory + r.goroutines*lookupMemory
	for _, email := range r.batch {
		facts, err := f.Engine.Check(t.Context(), nil, email, r.flags)
		require.NoError(t, err)
		held += int(unsafe.Sizeof(item{})+unsafe.Sizeof(email)) + len(email) + len(facts.JSON)
		held += len(facts.JSON) + len(facts.Email) + len(`{"email":,"status":"success","result":,"error":null},`)
	}
	return held
}

// An account whose requests wait gets 429 when they hold its share of the memory, whatever
// their kind, and all that is reserved is released.
func TestWaitingRequestsAreLimited(t *testing.T) {
	for _, r := range waitingRequests("jane.doe%d", true) {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			w := newWaiting(t, MinMemory)
			for w.send(t, &r) {
				require.LessOrEqual(t, w.MemoryInUse(), MinMemory/4)
			}
			require.Greater(t, w.MemoryInUse(), MinMemory/8, "an account may use its share")
			close(w.gate)
			for range w.sent {
				require.Equal(t, http.StatusOK, <-w.statuses)
			}
			require.Eventually(t, func() bool { return w.MemoryInUse() == 0 }, hung, time.Millisecond)
		})
	}
}

// An account may have the longest body with a whole batch, with details, a policy and lookups.
func TestMinMemoryIsEnough(t *testing.T) {
	m := reservation{budget: newMemory(MinMemory), owner: owner{account: 1}}
	for range batchBody.Limit / memoryStep {
		require.Nil(t, m.grow(t.Context(), memoryStep))
	}
	c := &check{flags: host.Details, policy: new(host.Policy)}
	require.Nil(t, m.take(t.Context(), c.resultMemory(slices.Repeat([]string{strings.Repeat("a", batchBody.Limit/maxUnique)}, maxUnique), batchBody.Limit)))
	require.Nil(t, m.take(t.Context(), waitMemory+maxUnique*lookupMemory))
	m.free()
	require.Zero(t, m.budget.Used())
}

// waiting is a server whose lookups wait until gate is closed.
type waiting struct {
	*fakes
	address  string
	gate     chan struct{}
	asked    chan struct{} // an element for each lookup
	statuses chan int      // of the responses
	sent     int           // requests that wait
}

func newWaiting(t *testing.T, memory int) *waiting {
	w := &waiting{fakes: newFakes(t), gate: make(chan struct{}), asked: make(chan struct{}, maxUnique), statuses: make(chan int, 1000)}
	w.memory, w.Resolver = newMemory(memory), w
	w.address = w.listen(t, 1000)
	return w
}

func (w *waiting) Peek(string) (mx.Result, bool, error) { return mx.Result{}, false, nil }

func (w *waiting) PeekAddress(domain string) (mx.Result, bool, error) { return w.Peek(domain) }

func (w *waiting) Lookup(ctx context.Context, _ int64, _ string) (mx.Result, error) {
	w.asked <- struct{}{}
	select {
	case <-w.gate:
	case <-ctx.Done():
	}
	return mx.Result{MX: true}, ctx.Err()
}

func (w *waiting) LookupAddress(ctx context.Context, account int64, domain string) (mx.Result, error) {
	return w.Lookup(ctx, account, domain)
}

// send sends the request and reports whether it waits; else the response is 429.
func (w *waiting) send(t *testing.T, r *waitingRequest) (waits bool) {
	conn := dial(t, w.address).Send(r.text)
	go func() {
		if response, _, err := conn.ReadResponse(http.MethodGet); err == nil {
			w.statuses <- response.StatusCode
		}
	}()
	for range max(r.goroutines, 1) {
		select {
		case status := <-w.statuses:
			require.Equal(t, http.StatusTooManyRequests, status)
			return false
		case <-w.asked:
		}
	}
	w.sent++
	return true
}

// BenchmarkMemoryOfWaiting measures what a waiting request holds besides its connection,
// and what it has reserved.
func BenchmarkMemoryOfWaiting(b *testing.B) {
	for _, local := range []string{"a%d", "jane.doe+%d", strings.Repeat("x", 60) + "%d"} {
		for _, own := range []bool{false, true} {
			for _, r := range waitingRequests(local, own) {
				b.Run(fmt.Sprintf("%.9s/own domains %t/%s", local, own, r.name), func(b *testing.B) {
					for b.Loop() {
						held, reserved := r.measure(b, 200)
						b.ReportMetric(float64(held), "held-B")
						b.ReportMetric(float64(reserved), "reserved-B")
						b.ReportMetric(float64(held)/float64(reserved), "held/reserved")
					}
				})
			}
		}
	}
}

// measure returns the bytes that each of several waiting requests holds and reserves.
func (r *waitingRequest) measure(b *testing.B, requests int) (held, reserved int) {
	f := newFakes(b)
	resolver := newSilentResolver(b)
	f.memory, f.Resolver = newMemory(1<<40), resolver
	address := f.listen(b, requests)
	var conns []*origintest.TestConn
	for range requests {
		w := dial(b, address)
		w.Send(getHealth).Response()
		conns = append(conns, w)
	}
	before := inUse()
	for n, w := range conns {
		w.Send(r.text)
		require.Eventually(b, func() bool { return resolver.asked.Load() == int64((n+1)*max(r.goroutines, 1)) }, hung, 50*time.Microsecond)
	}
	held, reserved = inUse()-before, f.MemoryInUse()
	for _, w := range conns {
		w.Close()
	}
	require.Eventually(b, func() bool { return f.MemoryInUse() == 0 }, hung, time.Millisecond)
	return held / requests, reserved / requests
}

// inUse returns the bytes of the heap and of stacks.
func inUse() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}

// heldMessages is an MCP that waits until gate is closed, and then panics if panics is set.
type heldMessages struct {
	begun, gate chan struct{}
	panics      bool
}

func (h *heldMessages) Respond(*http.Request, string, []byte, string) (int, []byte) {
	h.begun <- struct{}{}
	<-h.gate
	if h.panics {
		panic("secret@mail.example")
	}
	return http.StatusOK, []byte("{}")
}

// The messages of an account hold its share of the memory at most, whatever their length; all
// that is reserved is released, also after a panic. They take no token.
func TestMessagesAreLimited(t *testing.T) {
	for _, panics := range []bool{false, true} {
		for _, length := range []int{2, messageBody.Limit} {
			f, h := newFakes(t), &heldMessages{make(chan struct{}), make(chan struct{}), panics}
			f.memory, f.MCP, f.ledger.account = newMemory(MinMemory), h, 1
			address := f.listen(t, 1000)
			text := fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", goodKey, length, strings.Repeat(" ", length))
			statuses, waiting := make(chan int), 0
			for refused := false; !refused; {
				conn := dial(t, address).Send(text)
				go func() {
					response, _, _ := conn.ReadResponse(http.MethodPost)
					statuses <- response.StatusCode
				}()
				select {
				case <-h.begun:
					waiting++
				case status := <-statuses:
					require.Equal(t, http.StatusTooManyRequests, status)
					refused = true
				}
				require.LessOrEqual(t, f.MemoryInUse(), MinMemory/4)
			}
			require.Positive(t, waiting)
			require.LessOrEqual(t, waiting, MinMemory/4/messageMemory)
			close(h.gate)
			for range waiting {
				require.Equal(t, map[bool]int{false: 200, true: 500}[panics], <-statuses)
			}
			require.Eventually(t, func() bool { return f.MemoryInUse() == 0 }, hung, time.Millisecond)
			require.Empty(t, f.trace.list())
		}
	}
}
