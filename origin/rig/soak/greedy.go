package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
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
			key := book.NewSecret()
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
	small := p.Memory("VmRSS")
	p.resetPeak()
	stop := b.start(s.ctx, p.address)
	during, p50During := s.measureHonest(p, a)
	stop()
	grown := p.Memory("VmHWM") - small
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

// bounded shows that one account cannot cause more work than it may, neither by
// claiming the same points many times at once nor by hanging up.
func bounded(s *session) error {
	s.dns.RespondAll(asNamed)
	if err := s.manyBatches(); err != nil {
		return err
	}
	return s.unpaidWork()
}

// manyBatches sends many batches at once, each of which costs all points of the
// account. One is served. The others are refused before their lookups.
func (s *session) manyBatches() error {
	const size = 64
	const own = 4 // names that the service asks for at its start: its probe, and the domains of --dns-with-mx
	a, err := s.newAccount("poor", unlimited, "64")
	if err != nil {
		return err
	}
	p, err := s.start()
	if err != nil {
		return err
	}
	count := s.times(1000)
	l := &load{account: a, clients: count, at: always(p.address)}
	l.next = func(int, int) request { return newBatch(waits(500*time.Millisecond), size) }
	l.finished = func(int, request, outcome) bool { return false }
	names := s.dns.Names()
	l.runOut(s.ctx)
	asked := s.dns.Names() - names
	s.figure("%d batches of %d at once for %d points: %d domains looked up; %s", count, size, size, asked, &l.tally)
	s.expect(l.responses(200) == 1, "%d batches were served, want one", l.responses(200))
	s.expect(l.responses(402)+l.responses(429) == count-1, "%d batches were refused with 402 or 429, want %d", l.responses(402)+l.responses(429), count-1)
	s.expect(asked <= size+own, "%d domains were looked up for %d points", asked, size)
	s.expectContract(&l.tally)
	p.Kill()
	return s.expectLedger(a, size, size)
}

// The unpaid work that an account may cause on a replica, in addresses: the
// capacity of a token bucket and its rate a second.
const (
	unpaidBurst = 1024
	unpaidRate  = 64
)

// unpaidWork has clients of an unlimited account request new domains about which
// the resolver never replies, and hang up.
func (s *session) unpaidWork() error {
	a, err := s.newAccount("unlimited", unlimited, unlimited)
	if err != nil {
		return err
	}
	p, err := s.start()
	if err != nil {
		return err
	}
	var sent atomic.Int64
	l := &load{account: a, clients: 64, at: always(p.address), next: waiting, patience: whileWaiting}
	l.finished = func(int, request, outcome) bool { return sent.Add(1) < int64(s.times(10_000)) }
	names, begun := s.dns.Names(), time.Now()
	l.runOut(s.ctx)
	s.judgeUnpaid(l, s.dns.Names()-names, time.Since(begun))
	p.Kill()
	return s.expectLedger(a, 0, 0)
}

// judgeUnpaid checks the number of domains looked up. It allows for requests that
// were in flight when the bucket became empty.
func (s *session) judgeUnpaid(l *load, asked int, took time.Duration) {
	most := unpaidBurst + int(unpaidRate*took.Seconds()) + l.clients*mostWaiting
	s.figure("hung up for %s: %d domains looked up, at most %d allowed; %s", round(took), asked, most, &l.tally)
	s.expect(asked <= most, "%d domains were looked up in %s, at most %d are allowed", asked, round(took), most)
	if wanted := int(l.doubtful); wanted > most {
		s.expect(l.responses(429) > 0, "no 429, although clients hung up on %d addresses", wanted)
	}
	s.expectContract(&l.tally)
}

// leavers has clients hang up at random moments after they sent a request. One that
// hangs up before the transaction includes its request is not charged.
func leavers(s *session) error {
	s.dns.RespondAll(asNamed)
	p, err := s.start("--dns-timeout", "2s")
	if err != nil {
		return err
	}
	l, err := s.newLeavers(always(p.address))
	if err != nil {
		return err
	}
	stop := l.start()
	time.Sleep(s.span(15 * time.Second))
	stop()
	l.report()
	return l.expectLedger()
}

// leaving is three loads whose clients hang up.
type leaving struct {
	*session
	random  *load     // at any moment
	once    *onceLoad // at any moment, then sends the batch again
	waiting *load     // while the request waits for a silent resolver
}

func (s *session) newLeavers(at func(int) string) (*leaving, error) {
	var accounts []account
	for _, name := range []string{"random", "once", "waiting"} {
		a, err := s.newAccount(name, unlimited, unlimited)
		if err != nil {
			return nil, err
		}
		accounts = append(accounts, a)
	}
	l := &leaving{session: s}
	l.random = &load{account: accounts[0], clients: 8, at: at, next: mixed, patience: soon}
	l.once = newOnceLoad(accounts[1], at)
	l.once.patience = soon
	l.waiting = &load{account: accounts[2], clients: 8, at: at, next: waiting, patience: whileWaiting}
	return l, nil
}

// soon returns a time from 1 µs to 30 ms, about the time of a request. Short times
// are more frequent.
func soon() time.Duration {
	return time.Microsecond + time.Duration(float64(30*time.Millisecond)*math.Pow(rand.Float64(), 3))
}

// whileWaiting returns a time after which a request has begun its lookup and not
// yet timed out.
func whileWaiting() time.Duration { return 30*time.Millisecond + rand.N(100*time.Millisecond) }

func (l *leaving) start() (stop func()) {
	stops := []func(){l.random.start(l.ctx), l.once.start(l.ctx), l.waiting.start(l.ctx)}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

func (l *leaving) report() {
	l.figure("at any moment: %s", &l.random.tally)
	l.figure("with Idempotency-Key, sent again until charged: %s", &l.once.tally)
	l.figure("waiting for a silent resolver: %s", &l.waiting.tally)
	l.expect(l.waiting.hungUp > 0 && l.random.hungUp > 0, "no client hung up in time")
	l.expect(l.waiting.responses(200) == 0, "%d requests got 200 without the resolver", l.waiting.responses(200))
	l.expectContract(&l.random.tally)
	l.expectContract(&l.waiting.tally)
}

// expectLedger checks the ledger once no lookup is in flight that could lead to a
// charge.
func (l *leaving) expectLedger() error {
	l.once.patience = nil
	if err := l.expectSettled(l.once); err != nil {
		return err
	}
	time.Sleep(2*time.Second + busy)
	if err := l.session.expectLedger(l.waiting.account, 0, 0); err != nil {
		return err
	}
	least, most := l.random.charged()
	used, err := l.used(l.random.account)
	l.figure("at any moment: %d points in responses <= %d in the ledger <= %d with those hung up", least, used, most)
	if err != nil {
		return err
	}
	return l.session.expectLedger(l.random.account, least, most)
}
