package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// memoryRows compare the resident memory of the service with a fixed limit.
func memoryRows() []row {
	return []row{
		{"memory at the start", "MB", "limit", atMost(1), limitOf(45, memoryAtStart)},
		{"memory at the start, without mapped files", "MB", "all of it", target{}, privateAtStart},
		{"memory after load", "MB", "limit", atMost(1), limitOf(80, memoryAfterLoad)},
		{"memory of each of 10,000 idle connections", "KiB", "limit", atMost(1), limitOf(25, memoryOfConnections)},
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
	private, err := s.status("RssAnon:")
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

// idleConnections are many: the most that a service takes by default.
const idleConnections = 10_000

// memoryOfConnections opens connections, each of which has had an answer.
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

// spareFiles are files that a process opens beside its connections.
const spareFiles = 200

// memoryAfterDomains looks up lookedUp new domains through batches, one at a time,
// since an account has a limit on its look-ups.
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

// ask opens a connection, on which it gets one answer.
func (s *service) ask() (net.Conn, error) {
	address := strings.TrimPrefix(s.url, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(conn, "GET /v1/usage HTTP/1.1\r\nHost: %s\r\nX-API-Key: %s\r\n\r\n", address, s.key); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.Contains(line, " 200 ") {
		err = fmt.Errorf("the answer began with %q", line)
	}
	return conn, err
}

// memory returns the resident memory of the process in bytes.
func (s *service) memory() (float64, error) { return s.status("VmRSS:") }

// status returns a number of /proc/PID/status, in bytes (proc_pid_status(5)).
func (s *service) status(name string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		return 0, skip("this system has no /proc")
	}
	_, rest, _ := strings.Cut(string(text), "\n"+name)
	words := strings.Fields(rest)
	if len(words) == 0 {
		return 0, skip("/proc does not say the memory")
	}
	kilobytes, err := strconv.ParseFloat(words[0], 64)
	return 1024 * kilobytes, err
}
