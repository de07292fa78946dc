package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// The trials of other clients: useless connections, long bodies and slow domains harm no one
// else. And of resolvers that fail.

const headerStart = "GET /healthz HTTP/1.1\r\nHost: soak\r\n"

// crowd is the mixture of useless clients: what each sends on its connection.
var crowd = []struct {
	text string
	slow bool // one byte a second
}{
	{"", false}, // nothing
	{headerStart + "\r\n", false},
	{headerStart + "X-Slow: " + strings.Repeat("x", 600), true},
	{headerStart + "X: " + strings.Repeat("x", 30<<10), false}, // the most of a header that does not end
	{headerStart + strings.Repeat("x:\n", 98), false},
	{headerStart + "\r\n" + headerStart + strings.Repeat("x:\n", 90), false},
}

// join keeps so many connections of the crowd open until stop is called. A client connects again
// when the service closes its connection. open is the number of connections now.
func join(ctx context.Context, address string, size int) (open *atomic.Int64, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	open = new(atomic.Int64)
	keep := func(kind int) {
		conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", address)
		if err != nil {
			return
		}
		open.Add(1)
		defer open.Add(-1)
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		if crowd[kind].slow {
			go func() {
				for _, char := range []byte(crowd[kind].text) {
					if _, err := conn.Write([]byte{char}); err != nil {
						return
					}
					time.Sleep(time.Second)
				}
			}()
		} else {
			_, _ = io.WriteString(conn, crowd[kind].text)
		}
		_, _ = io.Copy(io.Discard, conn)
	}
	var all sync.WaitGroup
	for n := range size {
		all.Go(func() {
			for ctx.Err() == nil {
				keep(n % len(crowd))
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
	return open, func() { cancel(); all.Wait() }
}

// await returns once ok, or after a while.
func await(ok func() bool) {
	for deadline := time.Now().Add(20 * time.Second); !ok() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
}

// idlers keeps connections without a key open up to --max-connections. New connections are
// served all the same. While further clients open connections as fast as they can, no request
// already in progress is cut.
func idlers(s *session) {
	const most, waiting = 200, 50 // fewer than the lookups that one account may have at a time
	a := s.newAccount("plain", unlimited)
	p := s.start("--max-connections", fmt.Sprint(most), "--dns-timeout", "5s")
	open, leave := join(s.ctx, p.address, most)
	defer leave()
	await(func() bool { return open.Load() >= most })
	s.expect(open.Load() >= most*95/100, "only %d connections could be opened", open.Load())
	l := a.load(1, always(p.address), usual)
	l.each, l.reconnect = s.times(1000), true
	l.run(s.ctx)
	leave()
	s.figure("requests on new connections beside %d useless ones: %s", most, l)
	s.expect(l.responses(200) == l.each, "%d of %d requests on new connections were served", l.responses(200), l.each)
	s.expectWithin(percentile(l.times(), 99), 100*time.Millisecond, "the p99 of requests on new connections")

	l = a.load(waiting, always(p.address), func(int, int) request { return single(newEmail(late)) })
	l.each = 1
	names := s.dns.Names()
	ctx, ended := context.WithCancel(s.ctx)
	go func() { l.run(s.ctx); ended() }()
	await(func() bool { return s.dns.Names()-names >= waiting })
	var opened atomic.Int64
	var rush sync.WaitGroup
	for range 4 {
		rush.Go(func() {
			for ctx.Err() == nil {
				conn, err := net.DialTimeout("tcp", p.address, time.Second)
				if err != nil {
					continue
				}
				opened.Add(1)
				_, _ = io.WriteString(conn, headerStart+"X-Slow: ")
				time.AfterFunc(100*time.Millisecond, func() { conn.Close() })
			}
		})
	}
	rush.Wait()
	s.figure("%d connections opened while %d requests were in flight: %s", opened.Load(), waiting, l)
	s.expect(opened.Load() > most, "only %d connections were opened meanwhile", opened.Load())
	s.expect(l.responses(200) == waiting, "%d of %d requests in flight were served: %v", l.responses(200), waiting,
		l.cuts)
	s.expectLedger(a)
}

// honestP50 is the longest median of other accounts' requests.
const honestP50 = 60 * time.Millisecond

// bodies has many clients send long bodies at once, in four ways, and measures the
// memory of the process while another account, the honest one, sends requests.
func bodies(s *session) {
	honest := s.newAccount("honest", unlimited)
	for n, way := range []struct {
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
		keys := []string{book.NewSecret()}
		for k := range way.accounts {
			keys = append(keys[:k], s.newAccount(fmt.Sprintf("sender-%d-%d", n, k), unlimited).key)
		}
		p := s.start()
		measure := func() *load {
			l := honest.load(4, always(p.address), func(client, n int) request {
				if n%2 == 0 {
					return usual(client, n)
				}
				return batchOf(10, client*1_000_000+n)
			})
			l.pace = 10 * time.Millisecond
			stop := start(s.ctx, l)
			time.Sleep(s.span(10 * time.Second))
			stop()
			return l
		}
		measure() // fills caches
		small := p.Memory("VmRSS")
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.PID()), []byte("5"), 0) // sets VmHWM to the memory now
		statuses, stopSenders := sendBodies(s.ctx, p.address, keys, way.slow)
		l := measure()
		stopSenders()
		grown := p.Memory("VmHWM") - small
		s.figure("%d bodies of 1 MiB with %s: memory %d MiB before, %d MiB more at most; statuses %v", manyBodies,
			way.what,
			small>>20, grown>>20, statuses)
		s.figure("honest clients meanwhile: %s", l)
		s.expect(grown < way.most, "the memory grew by %d MiB, at most %d MiB are allowed", grown>>20, way.most>>20)
		s.expect(l.responses(200) > 9*l.responses(503), "%d honest requests got 503, %d got 200", l.responses(503),
			l.responses(200))
		s.expect(l.responses(429) == 0 && len(l.cuts) == 0, "honest requests were refused or cut: %v", l.cuts)
		s.expectWithin(percentile(l.times(), 50), honestP50, "the p50 of honest clients")
		for status := range statuses {
			s.expect(strings.Contains("200 400 401 429 503", strconv.Itoa(status)), "a body got the status %d", status)
		}
		p.Kill()
	}
	s.expectLedger(honest)
}

// manyBodies is the number of bodies sent at a time.
const manyBodies = 700

// sendBodies sends a batch of 1 MiB, 64 addresses and white space, on many connections, each again
// and again until stop is called. A slow one is sent in pieces, without its last byte. statuses
// are the numbers of responses, complete once stop has returned.
func sendBodies(ctx context.Context, address string, keys []string, slow bool) (statuses map[int]int, stop func()) {
	batch := batchOf(64, 0)
	text := []byte(strings.TrimSuffix(batch.body(), "}"))
	text = append(append(text, bytes.Repeat([]byte(" "), 1<<20-len(text)-1)...), '}')
	header := fmt.Sprintf("POST /v1/emails HTTP/1.1\r\nHost: soak\r\nConnection: close\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\nX-API-Key: ", len(text))
	piece, wait := len(text), time.Duration(0)
	if slow {
		text, piece, wait = text[:len(text)-1], 64<<10, 200*time.Millisecond
	}
	statuses = map[int]int{}
	ctx, cancel := context.WithCancel(ctx)
	var mu sync.Mutex
	send := func(key string) {
		conn, err := origintest.Connect(address, exchangeTimeout)
		if err != nil {
			return
		}
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		go func() {
			_, err := io.WriteString(conn, header+key+"\r\n\r\n")
			for next := range slices.Chunk(text, piece) {
				if err == nil {
					_, err = conn.Write(next)
					time.Sleep(wait)
				}
			}
		}()
		response, _, err := conn.ReadResponse(http.MethodPost)
		if err != nil {
			return
		}
		mu.Lock()
		statuses[response.StatusCode]++
		mu.Unlock()
		time.Sleep(time.Second)
	}
	var all sync.WaitGroup
	for n := range manyBodies {
		all.Go(func() {
			for ctx.Err() == nil {
				send(keys[n%len(keys)])
			}
		})
	}
	return statuses, func() { cancel(); all.Wait() }
}

// neighbours has accounts, first one and then five together, flood the service with
// domains about which the resolver never replies: with more lookups at once than one account may
// have waiting. Another account's requests about new domains are served as usual.
func neighbours(s *session) {
	p := s.start("--dns-timeout", "5s", "--batch-timeout", "10s")
	at := always(p.address)
	for _, greedy := range []int{1, 5} {
		var floods []*load
		for n := range greedy {
			l := s.newAccount(fmt.Sprintf("greedy-%d-of-%d", n+1, greedy), unlimited).load(24, at, func(int,
				int) request {
				r := request{batch: true}
				for range 64 {
					r.emails = append(r.emails, newEmail(silent))
				}
				return r
			})
			l.after = func(_ int, o outcome) bool {
				if o.status == http.StatusTooManyRequests { // at least 100 ms, to leave the processor to others
					seconds, _ := strconv.Atoi(o.header.Get("Retry-After"))
					time.Sleep(max(time.Duration(seconds)*time.Second, 100*time.Millisecond))
				}
				return true
			}
			floods = append(floods, l)
		}
		stop := start(s.ctx, floods...)
		defer stop()
		last := -1 // the floods have all lookups that they can get once no further domain is looked up
		await(func() bool {
			before := last
			time.Sleep(500 * time.Millisecond)
			last = s.dns.Names()
			return last == before
		})
		honest := s.newAccount(fmt.Sprintf("honest-%d", greedy), unlimited)
		l := honest.load(1, at, func(int, int) request { return single(newEmail("")) })
		stopHonest := start(s.ctx, l)
		time.Sleep(s.span(10 * time.Second))
		stopHonest()
		what := fmt.Sprintf("beside %d flooding accounts", greedy)
		s.figure("%s: %s", what, l)
		s.figure("one of them: %s", floods[0])
		s.expect(l.responses(http.StatusOK) == l.requests, "%s %d of %d requests got no 200", what,
			l.requests-l.responses(http.StatusOK), l.requests)
		s.expectWithin(percentile(l.times(), 50), honestP50, what+" the median request")
		s.expectLedger(honest)
		stop()
	}
}

// unresolved makes the resolver fail in several ways. A failed lookup gets the
// contract's errors within the deadline, cached domains are still served, and a
// failed single is not charged.
func unresolved(s *session) {
	a, p := s.newAccount("plain", unlimited), s.start()
	l := a.load(0, always(p.address), nil)
	c := &client{address: p.address, key: a.key, keepAlive: true}
	defer c.close()
	expect := func(name string, r request, want int) outcome {
		o := l.send(c, 0, r)
		s.expect(o.status == want, "%s: the response is %d, want %d: %s %v", name, o.status, want, o.body, o.err)
		s.expectWithin(o.took, dnsTimeout+busy, name)
		return o
	}
	known := single("jane@known.bulk.example")
	expect("before", known, 200)
	for _, fault := range []struct {
		name  string
		fault mxtest.Responder
		code  string // prefix of that of an item
	}{
		{"silent", mxtest.Silent, "DNS_TIMEOUT"},
		{"SERVFAIL", mxtest.ServFail, "DNS_FAILURE"},
		{"REFUSED", mxtest.Refused, "DNS_FAILURE"},
		{"garbage", mxtest.Garbage, "DNS_FAILURE"},
		{"noise", mxtest.Noise, "DNS_"}, // not a DNS message: either code is correct
	} {
		s.dns.RespondAll(fault.fault)
		failed := expect(fault.name, single(newEmail("")), 503)
		batch := request{batch: true, emails: []string{known.emails[0], "x+tag@known.bulk.example"}}
		for range 20 {
			batch.emails = append(batch.emails, newEmail(""))
		}
		partial := expect(fault.name, batch, 200)
		var body struct {
			Results []struct {
				Status string
				Error  struct{ Code string }
			}
		}
		err := json.Unmarshal(partial.body, &body)
		s.expect(err == nil && len(body.Results) == len(batch.emails), "%s: a batch of %d has %d results", fault.name,
			len(batch.emails), len(body.Results))
		for n, item := range body.Results {
			ok := n < 2 && item.Status == "success" || n >= 2 && item.Status == "error" && strings.HasPrefix(item.Error.Code,
				fault.code)
			s.expect(ok, "%s: item %d is %s %s", fault.name, n, item.Status, item.Error.Code)
		}
		var took []time.Duration
		for range s.times(500) {
			took = append(took, expect(fault.name, known, 200).took)
		}
		s.figure("%-9s 503 for a single after %s; 2 cached and 20 new domains after %s; cached domain p50 %s, p99 %s",
			fault.name+":",
			round(failed.took), round(partial.took), round(percentile(took, 50)), round(percentile(took, 99)))
		s.dns.RespondAll(mxtest.Answer)
		expect("after "+fault.name, single(newEmail("")), 200)
	}
	s.expectLedger(a)
}
