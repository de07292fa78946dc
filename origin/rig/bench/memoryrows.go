package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// memoryRows compare the resident memory of the service with a fixed limit.
func memoryRows() []row {
	return []row{
		{"memory at the start", "MB", "limit", atMost(1), limitOf(45, memoryAtStart)},
		{"memory at the start, without mapped files", "MB", "all of it", target{}, privateAtStart},
		{"memory after load", "MB", "limit", atMost(1), limitOf(80, memoryAfterLoad)},
		{"memory of each of 4,000 idle connections", "KiB", "limit", atMost(1), limitOf(25, memoryOfConnections)},
		{"memory after 1 M domains", "MB", "limit", atMost(1), limitOf(350, memoryAfterDomains)},
	}
}

const megabyte = 1e6

// limitOf returns a measurement of a row whose peer is a fixed limit.
func limitOf(limit float64, measure func(context.Context, *lab) (float64, error)) func(context.Context, *lab) (pair, error) {
	return func(ctx context.Context, l *lab) (pair, error) {
		ours, err := measure(ctx, l)
		return pair{Ours: ours, Peer: limit}, err
	}
}

func memoryAtStart(_ context.Context, l *lab) (float64, error) {
	s, err := l.newService()
	if err != nil {
		return 0, err
	}
	defer s.Kill()
	bytes, err := s.memory()
	return bytes / megabyte, err
}

// privateAtStart is the memory that the system cannot drop and read again from the
// program's file.
func privateAtStart(_ context.Context, l *lab) (p pair, err error) {
	s, err := l.newService()
	if err != nil {
		return p, err
	}
	defer s.Kill()
	private, err := s.status("RssAnon")
	if err != nil {
		return p, err
	}
	all, err := s.memory()
	return pair{Ours: private / megabyte, Peer: all / megabyte}, err
}

// memoryAfterLoad sends GETs and batches on 128 connections.
func memoryAfterLoad(ctx context.Context, l *lab) (float64, error) {
	s, err := l.newService()
	if err != nil {
		return 0, err
	}
	defer s.Kill()
	for _, d := range []load{{url: single, connections: 128}, {url: batch, body: batchBody(batchSize, ""), connections: 128}} {
		if _, err := l.costOf(ctx, s, d); err != nil {
			return 0, err
		}
	}
	time.Sleep(l.span / 2)
	bytes, err := s.memory()
	return bytes / megabyte, err
}

// idleConnections are many: nearly the most that a service takes by default.
const idleConnections = 4000

// memoryOfConnections opens connections, each of which has had a response.
func memoryOfConnections(_ context.Context, l *lab) (float64, error) {
	if most := openFiles(); most < idleConnections+spareFiles {
		return 0, skip("a process may open %d files: raise that with ulimit -n", most)
	}
	s, err := l.newService()
	if err != nil {
		return 0, err
	}
	defer s.Kill()
	before, err := s.memory()
	if err != nil {
		return 0, err
	}
	for range idleConnections {
		conn, err := s.ask()
		if err != nil {
			return 0, err
		}
		defer conn.Close()
	}
	after, err := s.memory()
	return (after - before) / idleConnections / 1024, err
}

// openFiles returns how many files this process may open. Go has raised the limit as
// far as it may.
func openFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<30))
}

// spareFiles are files that a process opens beside its connections.
const spareFiles = 200

// memoryAfterDomains looks up lookedUp new domains through batches, one at a time,
// since an account has a limit on its lookups.
func memoryAfterDomains(ctx context.Context, l *lab) (float64, error) {
	switch {
	case l.span < usualSpan:
		return 0, skip("takes two minutes; not with -quick")
	case l.lookedUp:
		return 0, errMeasured
	}
	l.lookedUp = true
	s, err := l.newService()
	if err != nil {
		return 0, err
	}
	defer s.Kill()
	d := load{url: s.url + batch, body: batchBody(batchSize, "-#"), connections: 1, span: l.span}
	for n := int64(0); n < lookedUp; {
		key, err := l.freshKey(s)
		if err != nil {
			return 0, err
		}
		d.keys, d.from = []string{key}, l.unused()
		sent, err := l.sendFromProcess(ctx, d)
		if err != nil {
			return 0, err
		}
		if _, err := sent.rate(); err != nil {
			return 0, err
		}
		n += sent.Requests * batchSize
	}
	bytes, err := s.memory()
	return bytes / megabyte, err
}

const lookedUp = 1_000_000

// ask opens a connection, on which it gets one response.
func (s *service) ask() (net.Conn, error) {
	conn, err := origintest.Connect(strings.TrimPrefix(s.url, "http://"), time.Minute)
	if err != nil {
		return nil, err
	}
	request := origintest.Request{Method: http.MethodGet, Target: "/v1/usage", Header: []string{"X-API-Key: " + s.key}, KeepAlive: true}
	if _, err := io.WriteString(conn, request.Text("bench")); err != nil {
		return nil, err
	}
	response, _, err := conn.ReadResponse(http.MethodGet)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("the status is %s", response.Status)
	}
	return conn, err
}

// memory returns the resident memory of the process in bytes.
func (s *service) memory() (float64, error) { return s.status("VmRSS") }

// status returns a size of the process's memory in bytes.
func (s *service) status(name string) (float64, error) {
	size := s.Memory(name)
	if size == 0 {
		return 0, skip("this system has no /proc")
	}
	return float64(size), nil
}

// startRows compare the time from the start of a process to its first response with a
// fixed limit.
func startRows() []row {
	return []row{
		{"start: check, one address", "ms", "limit", atMost(1), startCheck},
		{"start: serve to the first response", "ms", "limit", atMost(1), startServe},
		{"start: the same, resolver dead", "ms", "limit", atMost(1), startServeDead},
	}
}

// The limits in milliseconds.
const (
	startCheckLimit = 25
	startServeLimit = 150
)

func milliseconds(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / 1000 }

// startCheck is the command on one address; compiled code is in the user's cache.
func startCheck(ctx context.Context, l *lab) (p pair, err error) {
	program, err := l.program()
	if err != nil {
		return p, err
	}
	begun := time.Now()
	cmd := exec.CommandContext(ctx, program, "check", "--offline", usualAddress)
	_, err = cmd.Output()
	p = pair{Ours: milliseconds(begun), Peer: startCheckLimit}
	if err == nil {
		p.Used = perUnit(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), 1)
	}
	return p, origintest.Explain(err)
}

func startServe(ctx context.Context, l *lab) (p pair, err error) {
	dns, err := l.dns()
	if err != nil {
		return p, err
	}
	return l.startAndAsk(dns.FirstLine)
}

// startServeDead is startServe with a resolver that never replies.
func startServeDead(ctx context.Context, l *lab) (p pair, err error) {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return p, err
	}
	defer silent.Close()
	return l.startAndAsk(silent.LocalAddr().String())
}

// startAndAsk starts the service on a database that exists and asks GET /v1/usage,
// which needs a key and the ledger, but no resolver.
func (l *lab) startAndAsk(dns string) (p pair, err error) {
	database := "sqlite:" + filepath.Join(l.dir, "start.db")
	if l.startKey == "" {
		key, err := l.account(database, "start")
		if err != nil {
			return p, err
		}
		l.startKey = key
	}
	begun := time.Now()
	s, err := l.serve(database, dns)
	if err != nil {
		return p, err
	}
	defer s.Kill()
	err = load{url: s.url + "/v1/usage", keys: []string{l.startKey}}.sendOnce()
	return pair{Ours: milliseconds(begun), Peer: startServeLimit, Used: perUnit(processorTime(s.PID()), 1)}, err
}

// growthRows compare the service with itself, with little data and with much.
func growthRows() []row {
	return []row{
		{"growth: lists, address on no list", "ns", "a tenth of the lists", atMost(1.3), growLists},
		{fmt.Sprintf("growth: GET, %d accounts, c = 32", manyAccounts), "requests/s", "one account", atLeast(1 / 1.3), growAccounts},
		{fmt.Sprintf("growth: GET, %d keys, c = 32", manyAccounts*keysEach), "requests/s", "one key", atLeast(1 / 1.3), growKeys},
	}
}

const (
	manyAccounts = 1000
	keysEach     = 10
)

// growLists checks an address whose domain is looked up in vain, in the lists as they
// are and in a tenth of them. Ten times the lists do not fit their format.
func growLists(ctx context.Context, l *lab) (p pair, err error) {
	engine, err := openModule()
	if err != nil {
		return p, err
	}
	small, err := l.smallModule()
	if err != nil {
		return p, err
	}
	ours, err := wazeroCall(engine, moduleAddress)
	if err != nil {
		return p, err
	}
	peer, err := wazeroCall(small, moduleAddress)
	if err != nil {
		return p, err
	}
	return beside(l.span/2, ours, peer), nil
}

func growAccounts(ctx context.Context, l *lab) (pair, error) {
	return l.grow(ctx, func(p population) []string { return p.firstKeys })
}

func growKeys(ctx context.Context, l *lab) (pair, error) {
	return l.grow(ctx, func(p population) []string { return p.allKeys })
}

// grow compares a load with some keys of a large ledger, in turn, with a load on a
// service that has one account and one key.
func (l *lab) grow(ctx context.Context, keys func(population) []string) (p pair, err error) {
	large, err := l.population()
	if err != nil {
		return p, err
	}
	small, err := l.sqlite()
	if err != nil {
		return p, err
	}
	ours, err := l.costOf(ctx, large.service, load{url: single, keys: keys(large), connections: 32})
	if err != nil {
		return p, err
	}
	peer, err := l.costOf(ctx, small, load{url: single, connections: 32})
	return ours.besidePeer(peer, 1), err
}
