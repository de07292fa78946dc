package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
)

// bodies has many clients send long bodies at once, in four ways, and measures the
// memory of the process.
func bodies(s *session) error {
	a, err := s.newAccount("honest", unlimited, unlimited)
	if err != nil {
		return err
	}
	for _, way := range []struct {
		what     string
		accounts int // 0: keys of no account
		slow     bool
		most     int64
	}{
		{"an invented key", 0, false, 150 << 20},
		{"the key of one account, and the last byte missing", 1, true, 150 << 20},
		{"the keys of 7 accounts, and the last byte missing", 7, true, 300 << 20},
		{"the keys of 7 accounts", 7, false, 300 << 20},
	} {
		senders := &senders{slow: way.slow}
		for n := range max(way.accounts, 1) {
			key := ledger.NewSecret()
			if way.accounts > 0 {
				sender, err := s.newAccount(fmt.Sprintf("sender%d-%d-%t", n, way.accounts, way.slow), unlimited, unlimited)
				if err != nil {
					return err
				}
				key = sender.key
			}
			senders.keys = append(senders.keys, key)
		}
		if err := s.sendBodies(senders, a, way.what, way.most); err != nil {
			return err
		}
	}
	return nil
}

// manyBodies is the number of bodies sent at a time. slowPiece is the size of the
// pieces of a slow one.
const (
	manyBodies = 700
	slowPiece  = 64 << 10
)

// sendBodies starts a process and sends it bodies while another account, the honest
// one, sends requests.
func (s *session) sendBodies(b *senders, a account, what string, most int64) error {
	p, err := s.start()
	if err != nil {
		return err
	}
	defer p.Kill()
	before, p50Before := s.measureHonest(p, a)
	small := p.memory("VmRSS")
	p.resetPeak()
	stop := b.start(s.ctx, p.address)
	during, p50During := s.measureHonest(p, a)
	stop()
	grown := p.memory("VmHWM") - small
	s.figure("%d bodies of 1 MiB with %s: memory %d MiB before, %d MiB more at most; %s", manyBodies, what, small>>20, grown>>20, b)
	s.figure("honest clients: p50 %s before, %s during; %s", round(p50Before), round(p50During), &during.tally)
	s.expect(grown < most, "the memory grew by %d MiB, at most %d MiB are allowed", grown>>20, most>>20)
	s.expect(during.responses(200) > 9*during.responses(503), "%d honest requests got 503, %d got 200", during.responses(503), during.responses(200))
	s.expect(during.responses(429) == 0 && len(during.cuts) == 0, "honest requests were refused or cut: %v", during.firstCut())
	s.expect(b.odd.Load() == 0, "%d bodies got an unexpected status", b.odd.Load())
	s.expectWithin(p50During, honestP50, "the p50 of honest clients")
	s.expectContract(&during.tally)
	s.expectContract(&before.tally)
	return nil
}

// honestP50 is the longest median during another account's attack.
const honestP50 = 60 * time.Millisecond

// measureHonest runs a few honest clients for a while and returns their median
// time.
func (s *session) measureHonest(p *process, a account) (*load, time.Duration) {
	l := &load{account: a, clients: 4, at: always(p.address)}
	l.next = func(client, n int) request {
		if n%2 == 0 {
			return usual(n)
		}
		return batchOf(10, client*1_000_000+n)
	}
	l.finished = func(int, request, outcome) bool { time.Sleep(10 * time.Millisecond); return true }
	stop := l.start(s.ctx)
	time.Sleep(s.span(10 * time.Second))
	stop()
	return l, percentile(l.times(), 50)
}

// senders are clients that send a long batch again and again.
type senders struct {
	keys []string
	slow bool // send in pieces, and never the last byte

	mu       sync.Mutex
	statuses map[int]int
	odd      atomic.Int64
}

// start sends bodies until stop is called.
func (b *senders) start(ctx context.Context, address string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for n := range manyBodies {
		all.Go(func() {
			for ctx.Err() == nil {
				b.send(ctx, address, b.keys[n%len(b.keys)])
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// send sends one request, and waits a second after the response.
func (b *senders) send(ctx context.Context, address, key string) {
	c := &client{address: address}
	if c.connect() != nil {
		return
	}
	defer c.close()
	conn := c.conn
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	conn.SetDeadline(time.Now().Add(exchangeTimeout))
	go b.write(ctx, conn, key)
	response, _, err := conn.ReadResponse(http.MethodPost)
	if err != nil {
		return
	}
	b.count(response.StatusCode)
	time.Sleep(time.Second)
}

// longBatch is 1 MiB: 64 addresses and white space.
var longBatch = func() string {
	batch := batchOf(64, 0)
	body := strings.TrimSuffix(batch.body(), "}")
	return body + strings.Repeat(" ", 1<<20-len(body)-1) + "}"
}()

func (b *senders) write(ctx context.Context, conn io.Writer, key string) {
	fmt.Fprintf(conn, "POST /v1/emails HTTP/1.1\r\nHost: soak\r\nConnection: close\r\nX-API-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", key, len(longBatch))
	if !b.slow {
		io.WriteString(conn, longBatch)
		return
	}
	for rest := longBatch[:len(longBatch)-1]; rest != "" && ctx.Err() == nil; {
		piece := rest[:min(slowPiece, len(rest))]
		if _, err := io.WriteString(conn, piece); err != nil {
			return
		}
		rest = rest[len(piece):]
		time.Sleep(200 * time.Millisecond)
	}
}

func (b *senders) count(status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.statuses == nil {
		b.statuses = map[int]int{}
	}
	b.statuses[status]++
	switch status {
	case 200, 400, 401, 429, 503:
	default:
		b.odd.Add(1)
	}
}

// String returns the number of bodies by status.
func (b *senders) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprintf("statuses %v", b.statuses)
}
