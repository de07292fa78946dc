package main

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"time"
)

// startRows compare the time from the start of a process to its first answer with a
// fixed limit.
func startRows() []row {
	return []row{
		{"start: check, one address", "ms", "limit", atMost(1), startCheck},
		{"start: serve to the first answer", "ms", "limit", atMost(1), startServe},
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
	return p, explain(err)
}

func startServe(ctx context.Context, l *lab) (p pair, err error) {
	dns, err := l.dns()
	if err != nil {
		return p, err
	}
	return l.startAndAsk(dns.FirstLine)
}

// startServeDead is startServe with a resolver that does not answer.
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
