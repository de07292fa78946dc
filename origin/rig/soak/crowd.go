package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// crowds are what useless clients send on each of thousands of connections: the most that
// the service accepts of a header that does not end. A field of a few bytes takes the most
// memory for its bytes once it is parsed. No text means a mixture, see crowd.
var crowds = []struct{ name, text string }{
	{"idle and slow", ""},
	{"99 tiny fields each", headerStart + tinyFields(98)},
	{"one field of 32 KiB each", headerStart + "X: " + strings.Repeat("x", 32<<10)},
	{"tiny fields behind a request", headerStart + "\r\n" + headerStart + tinyFields(300)},
}

const headerStart = "GET /healthz HTTP/1.1\r\nHost: soak\r\n"

func tinyFields(count int) string {
	var text strings.Builder
	for n := range count {
		fmt.Fprintf(&text, "%c%c:\n", 'a'+n%26, 'a'+n/26)
	}
	return text.String()
}

// crowded keeps thousands of connections open, in several ways, while a few honest
// clients send requests. They get their responses, beside idle connections as fast as
// without, and the memory is bounded.
func crowded(s *session) error {
	size, err := s.crowdSize()
	if err != nil {
		return err
	}
	a, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return err
	}
	var least, most int64
	for n, kind := range crowds {
		p, err := s.start()
		if err != nil {
			return err
		}
		before, p99Before := s.honest(p, a)
		small := p.Memory("VmRSS")
		c := &crowd{address: p.address, text: kind.text}
		closeAll := c.connect(s.ctx, size)
		defer closeAll()
		opened := c.await(size, 30*time.Second)
		during, p99During := s.honest(p, a)
		s.figure("%s: %d of %d connections open at the start, %d at the end; the service closed %d, which were opened again",
			kind.name, opened, size, c.open.Load(), c.ended.Load())
		closeAll()
		s.figure("memory %d MiB before, %d MiB at most: %.1f KiB a connection",
			small>>20, p.Memory("VmHWM")>>20, float64(p.Memory("VmHWM")-small)/1024/float64(size))
		s.figure("honest clients before: p99 %s; %s", round(p99Before), &before.tally)
		s.figure("honest clients during: p99 %s; %s", round(p99During), &during.tally)
		s.expect(opened >= int64(size)*95/100, "%s: only %d of %d connections could be opened", kind.name, opened, size)
		s.expect(p.Memory("VmHWM") < mostMemory, "%s: the process used %d MiB", kind.name, p.Memory("VmHWM")>>20)
		s.expect(len(during.cuts)+during.refused == 0, "%s: %d honest requests had no response",
			kind.name, len(during.cuts)+during.refused)
		if n == 0 {
			s.expectWithin(p99During, 3*max(p99Before, leastP99), "the p99 of honest clients")
		}
		s.expectContract(&during.tally)
		least += before.points + during.points
		most += before.points + before.doubtful + during.points + during.doubtful
		p.Kill()
	}
	return s.expectLedger(a, least, most)
}

const (
	mostMemory = 700 << 20
	// leastP99 is the least p99 that is compared: a multiple of a very short time
	// would be exceeded by chance.
	leastP99 = 5 * time.Millisecond
	// mostCrowd is nearly the default of --max-connections, so that honest clients have room.
	mostCrowd = 4000
)

// crowdSize returns the number of connections, which the limit of open files of
// this process and of the program may lower.
func (s *session) crowdSize() (int, error) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return 0, err
	}
	size := min(mostCrowd, int(min(files.Max, 1<<20))-500)
	if size < 100 {
		return 0, skip(fmt.Sprintf("the limit of open files is %d", files.Max))
	}
	if size < mostCrowd {
		s.figure("scaled down from %d connections: the limit of open files is %d", mostCrowd, files.Max)
	}
	return size, nil
}

// honest runs a few clients at a moderate pace. It returns the median of the p99 of
// several periods, so that another program's burst does not decide it.
func (s *session) honest(p *process, a account) (l *load, p99 time.Duration) {
	l = &load{account: a, clients: 4, at: always(p.address), next: mixed}
	l.finished = func(int, request, outcome) bool { time.Sleep(10 * time.Millisecond); return true }
	stop := l.start(s.ctx)
	var periods []time.Duration
	for done := 0; len(periods) < 5; done = len(l.times()) {
		time.Sleep(s.span(4 * time.Second))
		periods = append(periods, percentile(l.times()[done:], 99))
	}
	stop()
	return l, percentile(periods, 50)
}

// A crowd is a set of useless clients. Each sends the text, if there is one. Else, of every
// five, three send one request and keep the connection idle, one sends nothing, and one
// sends a header slowly. A client reconnects at once when the service closes its connection.
type crowd struct {
	address string
	text    string
	open    atomic.Int64
	ended   atomic.Int64
}

// connect opens size connections, until closeAll is called.
func (c *crowd) connect(ctx context.Context, size int) (closeAll func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for n := range size {
		all.Go(func() {
			for ctx.Err() == nil {
				c.idle(ctx, n%5)
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// idle keeps one connection until the service closes it or ctx ends.
func (c *crowd) idle(ctx context.Context, way int) {
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", c.address)
	if err != nil {
		return
	}
	c.open.Add(1)
	defer c.open.Add(-1)
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	switch {
	case c.text != "":
		io.WriteString(conn, c.text)
	case way == 0: // silent
	case way == 1:
		go slowly(conn)
	default:
		io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: soak\r\n\r\n")
	}
	if _, err := io.Copy(io.Discard, conn); err == nil {
		c.ended.Add(1)
	}
}

// slowly sends a header, one byte a second, until the connection ends.
func slowly(conn net.Conn) {
	for _, char := range []byte("GET /healthz HTTP/1.1\r\nHost: soak\r\nX-Slow: " + strings.Repeat("x", 600)) {
		if _, err := conn.Write([]byte{char}); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// await waits until size connections are open, or time is up, and returns how many
// are.
func (c *crowd) await(size int, within time.Duration) int64 {
	for deadline := time.Now().Add(within); c.open.Load() < int64(size) && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	return c.open.Load()
}

// idlers keeps connections without a key open up to --max-connections, and reopens
// each one that the service closes. New connections are served all the same. While
// further clients open connections as fast as they can, no request already in
// progress is cut.
func idlers(s *session) error {
	a, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return err
	}
	s.dns.RespondAll(asNamed)
	p, err := s.start("--max-connections", fmt.Sprint(fewConnections), "--dns-timeout", "5s")
	if err != nil {
		return err
	}
	if err := s.newConnections(p, a); err != nil {
		return err
	}
	return s.rushed(p, a)
}

const fewConnections = 200

// newConnections sends singles, each on a new connection, beside idle ones.
func (s *session) newConnections(p *process, a account) error {
	c := &crowd{address: p.address}
	closeAll := c.connect(s.ctx, fewConnections)
	defer closeAll()
	opened := c.await(fewConnections, 20*time.Second)
	l := &load{account: a, clients: 1, at: always(p.address)}
	l.next = func(_, n int) request { return usual(n) }
	var asked atomic.Int64
	count := int64(s.times(1000))
	l.finished = func(int, request, outcome) bool { return asked.Add(1) < count }
	l.reconnect = true
	l.runOut(s.ctx)
	s.figure("%d idle and slow connections of %d; requests on new connections: %s", opened, fewConnections, &l.tally)
	s.expect(opened == fewConnections, "only %d connections could be opened", opened)
	s.expect(l.responses(200) == int(count), "%d of %d requests on new connections were served", l.responses(200), count)
	s.expectWithin(percentile(l.times(), 99), 100*time.Millisecond, "the p99 of requests on new connections")
	s.expectContract(&l.tally)
	return nil
}

// rushed has requests wait for the resolver while rush opens connections.
func (s *session) rushed(p *process, a account) error {
	const waiting = fewConnections / 2
	l := &load{account: a, clients: waiting, at: always(p.address)}
	l.next = func(int, int) request { return single(newEmail(waits(2 * time.Second))) }
	l.finished = func(int, request, outcome) bool { return false }
	names := s.dns.Names()
	ended := make(chan struct{})
	go func() { l.runOut(s.ctx); close(ended) }()
	for deadline := time.Now().Add(20 * time.Second); s.dns.Names()-names < waiting && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	opened := rush(ended, p.address)
	s.figure("%d connections opened while %d requests were in flight: %s", opened, waiting, &l.tally)
	s.expect(opened > fewConnections, "only %d connections were opened meanwhile", opened)
	s.expect(l.responses(200) == waiting, "%d of %d requests in flight were served: %v", l.responses(200), waiting, l.firstCut())
	return nil
}

// rush opens connections as fast as it can until ended is closed, and returns how
// many.
func rush(ended <-chan struct{}, address string) (opened int64) {
	var count atomic.Int64
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				conn, err := net.DialTimeout("tcp", address, time.Second)
				if err != nil {
					continue
				}
				count.Add(1)
				io.WriteString(conn, "GET /healthz HTTP/1.1\r\nX-Slow: ")
				time.AfterFunc(100*time.Millisecond, func() { conn.Close() })
			}
		})
	}
	<-ended
	cancel()
	all.Wait()
	return count.Load()
}

// neighbours has accounts, first one and then five together, flood the service with
// domains about which the resolver never replies. Another account's requests about
// new domains are served as usual.
func neighbours(s *session) error {
	s.dns.RespondAll(asNamed)
	p, err := s.start("--dns-timeout", "5s", "--batch-timeout", "10s")
	if err != nil {
		return err
	}
	for _, greedy := range []int{1, 5} {
		if err := s.neighbourOf(greedy, p.address); err != nil {
			return err
		}
	}
	return nil
}

// usualWait is the longest median time of requests that need a lookup.
const usualWait = 60 * time.Millisecond

func (s *session) neighbourOf(greedy int, address string) error {
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	var floods []*load
	for n := range greedy {
		flood, err := s.newFlood(fmt.Sprintf("greedy-%d-of-%d", n+1, greedy), address)
		if err != nil {
			return err
		}
		defer flood.start(ctx)()
		floods = append(floods, flood)
	}
	s.awaitFlood()
	honest, err := s.newHonest(fmt.Sprintf("honest-%d", greedy), address)
	if err != nil {
		return err
	}
	honest.runOut(ctx)
	return s.judgeNeighbour(honest, floods)
}

// newFlood returns a load of more lookups at once than one account may have
// waiting. A client that gets 429 waits as long as Retry-After requires.
func (s *session) newFlood(name, address string) (*load, error) {
	a, err := s.newAccount(name, unlimited, unlimited)
	l := &load{account: a, clients: 24, at: always(address)}
	l.next = func(int, int) request { return newBatch(silent, 64) }
	l.finished = func(_ int, _ request, o outcome) bool {
		if o.status == http.StatusTooManyRequests {
			waitRetryAfter(&o)
		}
		return true
	}
	return l, err
}

// waitRetryAfter waits for the seconds of Retry-After, and for at least 100 ms, so
// that a response without the header does not saturate the processor.
func waitRetryAfter(o *outcome) {
	seconds, _ := strconv.Atoi(o.header.Get("Retry-After"))
	time.Sleep(max(time.Duration(seconds)*time.Second, 100*time.Millisecond))
}

// awaitFlood returns once no further domain is looked up: the floods then have all
// the lookups that they can get.
func (s *session) awaitFlood() {
	const quiet, limit = 500 * time.Millisecond, 10 * time.Second
	for begun, last := time.Now(), -1; s.dns.Names() != last && time.Since(begun) < limit; time.Sleep(quiet) {
		last = s.dns.Names()
	}
}

// newHonest returns a load that requests new domains one after another.
func (s *session) newHonest(name, address string) (*load, error) {
	a, err := s.newAccount(name, unlimited, unlimited)
	l := &load{account: a, clients: 1, at: always(address)}
	l.next = func(int, int) request { return single(newEmail("")) }
	begun, length := time.Now(), s.span(10*time.Second)
	l.finished = func(int, request, outcome) bool { return time.Since(begun) < length }
	return l, err
}

func (s *session) judgeNeighbour(honest *load, floods []*load) error {
	what := fmt.Sprintf("beside %d flooding accounts", len(floods))
	s.figure("%s: %s", what, &honest.tally)
	s.figure("one of them: %s", &floods[0].tally)
	s.expect(honest.responses(http.StatusOK) == honest.requests, "%s %d of %d requests got no 200",
		what, honest.requests-honest.responses(http.StatusOK), honest.requests)
	s.expectWithin(percentile(honest.times(), 50), usualWait, what+" the median request")
	for _, l := range append(floods, honest) {
		s.expectContract(&l.tally)
	}
	return s.expectLedger(honest.account, honest.points, honest.points)
}
