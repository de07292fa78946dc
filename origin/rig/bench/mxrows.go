package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/miekg/dns"

	"github.com/addrspec/addrspec/origin/mx"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// mxRows compare lookups with another cache and with plain queries.
func mxRows() []row {
	return []row{
		{"MX, cached", "ns", "otter's get", atMost(4), cachedMX},
		{"MX, cached, all cores", "ns", "otter's get, all cores", atMost(4), cachedMXParallel},
		{"MX, not cached, one after another", "ns", "dns.Exchange", atMost(1.5), oneMX},
		{fmt.Sprintf("MX, not cached, %d callers", mxCallers), "lookups/s", "as many callers of dns.Exchange", atLeast(0.8), manyMX},
		{fmt.Sprintf("MX, not cached, %d callers, and dnsperf", mxCallers), "lookups/s", "dnsperf, queries/s", target{}, besideDNSPerf},
		{fmt.Sprintf("MX, not cached, batches of %d", batchSize), "lookups/s", fmt.Sprintf("%d callers of dns.Exchange", mxCallers), atLeast(0.45), batchedMX},
	}
}

// mxCallers is as many lookups as the resolver runs at a time for one account.
const mxCallers = 64

func cachedMX(ctx context.Context, l *lab) (p pair, err error) {
	c, err := l.newCachePair(ctx)
	if err != nil {
		return p, err
	}
	defer c.close()
	ours, peer := c.calls(ctx)
	return beside(l.span/2, ours, peer), nil
}

func cachedMXParallel(ctx context.Context, l *lab) (p pair, err error) {
	c, err := l.newCachePair(ctx)
	if err != nil {
		return p, err
	}
	defer c.close()
	ours, peer := c.onAllCores(ctx)
	p = beside(l.span/2, ours, peer)
	return pair{Ours: p.Ours / callsEach, Peer: p.Peer / callsEach}, nil
}

// onAllCores starts a function on each core and calls it callsEach times.
func onAllCores(start func() func()) {
	var cores sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		cores.Go(func() {
			f := start()
			for range callsEach {
				f()
			}
		})
	}
	cores.Wait()
}

// resolver returns a resolver with an empty cache, and the address of its server.
func (l *lab) resolver() (*mx.Resolver, string, error) {
	server, err := l.dns()
	if err != nil {
		return nil, "", err
	}
	r, err := mx.New(mx.Config{Servers: []string{server.FirstLine}})
	return r, server.FirstLine, err
}

func oneMX(ctx context.Context, l *lab) (pair, error) {
	p, err := l.uncached(ctx, 1)
	p.Ours, p.Peer = 1e9/p.Ours, 1e9/p.Peer
	return p, err
}

func manyMX(ctx context.Context, l *lab) (pair, error) { return l.uncached(ctx, mxCallers) }

// uncached compares the rate of lookups of new domains by some callers with that of
// plain queries.
func (l *lab) uncached(ctx context.Context, callers int) (p pair, err error) {
	r, _, err := l.resolver()
	if err != nil {
		return p, err
	}
	defer r.Close()
	ours, err := l.callAll(callers, func(domain string) error { _, err := r.Lookup(ctx, 1, domain); return err })
	if err != nil {
		return p, err
	}
	peer, err := l.exchanges(callers)
	return ours.besidePeer(peer, 1), err
}

// exchanges is the cost of plain queries by some callers.
func (l *lab) exchanges(callers int) (cost, error) {
	server, err := l.dns()
	if err != nil {
		return cost{}, err
	}
	return l.callAll(callers, func(domain string) error {
		_, err := dns.Exchange(new(dns.Msg).SetQuestion(domain+".", dns.TypeMX), server.FirstLine)
		return err
	})
}

// batchedMX has the service look up the domains of batches on one connection, of one
// account. Its rate contains all else that a batch does.
func batchedMX(ctx context.Context, l *lab) (p pair, err error) {
	s, err := l.sqlite()
	if err != nil {
		return p, err
	}
	d := load{url: s.url + batch, keys: []string{s.key}, body: batchBody(batchSize, "-#"), from: l.unused(), connections: 1}
	c, err := l.cost(ctx, d, s.PID())
	if err != nil {
		return p, err
	}
	peer, err := l.exchanges(mxCallers)
	return c.besidePeer(peer, batchSize), err
}

// callAll has callers call f with domains that no call had before.
func (l *lab) callAll(callers int, f func(domain string) error) (c cost, err error) {
	var numbers atomic.Int64
	begun, before, from := time.Now(), processorTime(os.Getpid()), l.unused()
	calls, err := repeat(l.span/2, callers, func(int) error { return f(fmt.Sprintf("n%d.bulk.example", from+numbers.Add(1))) })
	if err != nil {
		return c, err
	}
	c.rate = calls / time.Since(begun).Seconds()
	c.used = perUnit(processorTime(os.Getpid())-before, calls)
	return c, nil
}

// repeat has callers call f for a while, each with its number, and returns how many calls
// they made.
func repeat(span time.Duration, callers int, f func(caller int) error) (calls float64, err error) {
	var made atomic.Int64
	var failure atomic.Pointer[error]
	var all sync.WaitGroup
	begun := time.Now()
	for n := range callers {
		all.Go(func() {
			for time.Since(begun) < span && failure.Load() == nil {
				if err := f(n); err != nil {
					failure.Store(&err)
				}
				made.Add(1)
			}
		})
	}
	all.Wait()
	if err := failure.Load(); err != nil {
		return 0, *err
	}
	return float64(made.Load()), nil
}

// mxNames are as many domains as the package's own benchmark looks up.
const mxNames = 1 << 12

// A cachePair is our cache and otter's, with the same names.
type cachePair struct {
	names []string
	ours  *mx.Resolver
	peer  *otter.Cache[string, peerEntry]
	clock *otter.CoarseClock
}

// A peerEntry is as large as an entry of the resolver's cache.
type peerEntry struct {
	mx bool
	_  [3]int64
}

// newCachePair configures the peer for the same work: as many entries, the same
// resolution of time.
func (l *lab) newCachePair(ctx context.Context) (c cachePair, err error) {
	if c.ours, _, err = l.resolver(); err != nil {
		return c, err
	}
	c.clock = otter.NewCoarseClock(100 * time.Millisecond)
	c.peer, err = otter.New(&otter.Options[string, peerEntry]{
		MaximumSize: 100_000, Clock: c.clock,
		ExpiryCalculator: otter.ExpiryWritingFunc(func(otter.Entry[string, peerEntry]) time.Duration { return time.Hour }),
	})
	if err != nil {
		return c, err
	}
	return c, c.fill(ctx)
}

func (c *cachePair) fill(ctx context.Context) error {
	for n := range mxNames {
		c.names = append(c.names, fmt.Sprintf("c%d.bulk.example", n))
		if _, err := c.ours.Lookup(ctx, 1, c.names[n]); err != nil {
			return err
		}
		c.peer.Set(c.names[n], peerEntry{mx: true})
	}
	return nil
}

func (c *cachePair) close() {
	c.ours.Close()
	c.peer.StopAllGoroutines()
	c.clock.Stop()
}

// calls returns functions that look up name after name.
func (c *cachePair) calls(ctx context.Context) (ours, peer func()) {
	n, m := 0, 0
	ours = func() { n++; _, _ = c.ours.Lookup(ctx, 1, c.names[n%mxNames]) }
	peer = func() { m++; _, _ = c.peer.GetIfPresent(c.names[m%mxNames]) }
	return ours, peer
}

// callsEach is more than starting a goroutine takes.
const callsEach = 10_000

// onAllCores returns functions that look up callsEach names on each core.
func (c *cachePair) onAllCores(ctx context.Context) (ours, peer func()) {
	ours = func() { onAllCores(func() func() { f, _ := c.calls(ctx); return f }) }
	peer = func() { onAllCores(func() func() { _, f := c.calls(ctx); return f }) }
	return ours, peer
}

// besideDNSPerf compares lookups of new domains with the queries of dnsperf, which
// shows what the DNS server of the benchmark can serve.
func besideDNSPerf(ctx context.Context, l *lab) (p pair, err error) {
	path, err := exec.LookPath("dnsperf")
	if err != nil {
		return p, skip("dnsperf is not installed (apt-get install dnsperf)")
	}
	r, server, err := l.resolver()
	if err != nil {
		return p, err
	}
	defer r.Close()
	ours, err := l.callAll(mxCallers, func(domain string) error { _, err := r.Lookup(ctx, 1, domain); return err })
	if err != nil {
		return p, err
	}
	p.Ours, p.Used = ours.rate, ours.used
	p.Peer, err = l.dnsperf(ctx, path, server)
	return p, err
}

// dnsperfNames is how many names dnsperf asks for, one after another, over and over.
const dnsperfNames = 1 << 17

// dnsperf returns how many queries a second get a reply if as many as our callers
// may be in flight.
func (l *lab) dnsperf(ctx context.Context, path, server string) (rate float64, err error) {
	names, err := l.namesFile()
	if err != nil {
		return 0, err
	}
	defer os.Remove(names)
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, path, "-s", host, "-p", port, "-d", names, "-q", strconv.Itoa(mxCallers),
		"-c", strconv.Itoa(mxCallers), "-l", strconv.Itoa(max(1, int((l.span/2)/time.Second))))
	origintest.DieWithParent(cmd)
	out, err := cmd.Output()
	if err != nil {
		return 0, origintest.Explain(err)
	}
	return readDNSPerf(string(out))
}

// namesFile writes questions as dnsperf reads them.
func (l *lab) namesFile() (name string, err error) {
	file, err := os.CreateTemp(l.dir, "names-")
	if err != nil {
		return "", err
	}
	defer file.Close()
	w, from := bufio.NewWriter(file), l.unused()
	for n := range int64(dnsperfNames) {
		fmt.Fprintf(w, "n%d.bulk.example MX\n", from+n)
	}
	return file.Name(), w.Flush()
}

var (
	dnsperfRate = regexp.MustCompile(`Queries per second: +([0-9.]+)`)
	dnsperfLost = regexp.MustCompile(`Queries lost: +([0-9]+)`)
)

// readDNSPerf reads the rate from what dnsperf prints. Lost queries fail it.
func readDNSPerf(out string) (rate float64, err error) {
	found, lost := dnsperfRate.FindStringSubmatch(out), dnsperfLost.FindStringSubmatch(out)
	if found == nil || lost == nil || lost[1] != "0" {
		return 0, fmt.Errorf("dnsperf lost queries or printed no rate:\n%s", strings.TrimSpace(out))
	}
	return strconv.ParseFloat(found[1], 64)
}
