package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// crowded keeps thousands of connections open, in three ways, while a few honest
// clients send requests. Their p99 stays within three times that without the
// connections, and the memory is bounded.
func crowded(s *session) error {
	size, err := s.crowdSize()
	if err != nil {
		return err
	}
	a, err := s.newAccount("plain", unlimited, unlimited)
	if err != nil {
		return err
	}
	p, err := s.start()
	if err != nil {
		return err
	}
	before, p99Before := s.honest(p, a)
	small := p.memory("VmRSS")
	c := &crowd{address: p.address}
	closeAll := c.connect(s.ctx, size)
	defer closeAll()
	opened := c.await(size, 30*time.Second)
	during, p99During := s.honest(p, a)
	s.figure("%d of %d connections open at the start, %d at the end; the service closed %d, which were opened again", opened, size, c.open.Load(), c.ended.Load())
	closeAll()
	s.figure("memory %d MiB before, %d MiB at most: %.1f KiB a connection", small>>20, p.memory("VmHWM")>>20, float64(p.memory("VmHWM")-small)/1024/float64(size))
	s.figure("honest clients before: p99 %s; %s", round(p99Before), &before.tally)
	s.figure("honest clients during: p99 %s; %s", round(p99During), &during.tally)
	s.expect(opened >= int64(size)*95/100, "only %d of %d connections could be opened", opened, size)
	s.expect(p.memory("VmHWM") < mostMemory, "the process used %d MiB", p.memory("VmHWM")>>20)
	s.expect(len(during.cuts)+during.refused == 0, "%d honest requests had no response", len(during.cuts)+during.refused)
	s.expectWithin(p99During, 3*max(p99Before, leastP99), "the p99 of honest clients")
	s.expectContract(&during.tally)
	return s.expectLedger(a, before.points+during.points, before.points+during.points+before.doubtful+during.doubtful)
}

const (
	mostMemory = 512 << 20
	// leastP99 is the least p99 that is compared: a multiple of a very short time
	// would be exceeded by chance.
	leastP99 = 5 * time.Millisecond
)

// crowdSize returns the number of connections, which the limit of open files of
// this process and of the program may lower.
func (s *session) crowdSize() (int, error) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return 0, err
	}
	want := s.times(10_000)
	size := min(want, int(min(files.Max, 1<<20))-500)
	if size < 100 {
		return 0, skip(fmt.Sprintf("the limit of open files is %d", files.Max))
	}
	if size < want {
		s.figure("scaled down from %d connections: the limit of open files is %d", want, files.Max)
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

// A crowd is a set of useless clients. Of every five, three send one request and
// keep the connection idle, one sends nothing, and one sends a header slowly. A
// client reconnects at once when the service closes its connection, as it does
// with the last two.
type crowd struct {
	address string
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
	switch way {
	case 0: // silent
	case 1:
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
