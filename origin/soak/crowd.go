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

// crowded holds thousands of connections open, in three ways, while a few
// honest clients ask: their p99 stays within three times what it was, and the
// memory is bounded.
func crowded(s *scene) error {
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
	disperse := c.gather(s.ctx, size)
	defer disperse()
	held := c.await(size, 30*time.Second)
	during, p99During := s.honest(p, a)
	s.figure("%d of %d connections held at first, %d at last, while the service ended %d and they came back", held, size, c.open.Load(), c.ended.Load())
	disperse()
	s.figure("memory %d MiB before, %d MiB at most: %.1f KiB a connection", small>>20, p.memory("VmHWM")>>20, float64(p.memory("VmHWM")-small)/1024/float64(size))
	s.figure("honest clients before: p99 %s; %s", round(p99Before), &before.tally)
	s.figure("honest clients during: p99 %s; %s", round(p99During), &during.tally)
	s.expect(held >= int64(size)*95/100, "only %d of %d connections could be held", held, size)
	s.expect(p.memory("VmHWM") < mostMemory, "the process took %d MiB", p.memory("VmHWM")>>20)
	s.expect(len(during.cuts)+during.refused == 0, "%d honest requests had no answer", len(during.cuts)+during.refused)
	s.expectWithin(p99During, 3*max(p99Before, leastP99), "the p99 of honest clients")
	s.expectContract(&during.tally)
	return s.expectBooks(a, before.points+during.points, before.points+during.points+before.doubtful+during.doubtful)
}

const (
	mostMemory = 512 << 20
	// leastP99 keeps chance out of the comparison: three times next to nothing
	// is next to nothing.
	leastP99 = 5 * time.Millisecond
)

// crowdSize is how many connections this process and the program may open.
func (s *scene) crowdSize() (int, error) {
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

// honest is a few clients that ask at a moderate pace. Their p99 is the median
// of several spells, so that a burst of another program does not decide it.
func (s *scene) honest(p *process, a account) (l *load, p99 time.Duration) {
	l = &load{account: a, clients: 4, at: always(p.address), next: mixed}
	l.finished = func(int, request, outcome) bool { time.Sleep(10 * time.Millisecond); return true }
	stop := l.start(s.ctx)
	var spells []time.Duration
	for done := 0; len(spells) < 5; done = len(l.times()) {
		time.Sleep(s.span(4 * time.Second))
		spells = append(spells, percentile(l.times()[done:], 99))
	}
	stop()
	return l, percentile(spells, 50)
}

// A crowd is connections of clients that do nothing useful. Of five, three ask
// once and then keep their connection, one sends nothing, one sends a header
// slowly. A client whose connection the service ends, as it does with the last
// two, connects again at once.
type crowd struct {
	address string
	open    atomic.Int64
	ended   atomic.Int64
}

// gather opens the connections; disperse closes them.
func (c *crowd) gather(ctx context.Context, size int) (disperse func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for n := range size {
		all.Go(func() {
			for ctx.Err() == nil {
				c.loiter(ctx, n%5)
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// loiter holds one connection until the service ends it, or ctx.
func (c *crowd) loiter(ctx context.Context, way int) {
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

// slowly sends a header one byte every second, until the connection ends.
func slowly(conn net.Conn) {
	for _, char := range []byte("GET /healthz HTTP/1.1\r\nHost: soak\r\nX-Slow: " + strings.Repeat("x", 600)) {
		if _, err := conn.Write([]byte{char}); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// await returns how many connections are open once all are, or time is up.
func (c *crowd) await(size int, within time.Duration) int64 {
	for deadline := time.Now().Add(within); c.open.Load() < int64(size) && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	return c.open.Load()
}
