package main

import (
	"context"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"time"
)

// startRows compare the time from the start of a process to its first answer with a
// fixed limit.
func startRows() []row {
	return []row{
		{"start: check, one address", "ms", "limit", atMost(1), limitOf(25, startCheck)},
		{"start: serve to the first answer", "ms", "limit", atMost(1), limitOf(150, startServe)},
		{"start: the same, resolver dead", "ms", "limit", atMost(1), limitOf(150, startServeDead)},
	}
}

// limitOf returns a measurement of a row whose peer is a fixed limit.
func limitOf(limit float64, measure func(context.Context, *lab) (float64, error)) func(context.Context, *lab) (pair, error) {
	return func(ctx context.Context, l *lab) (pair, error) {
		ours, err := measure(ctx, l)
		return pair{ours, limit}, err
	}
}

func milliseconds(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / 1000 }

// startCheck is the command on one address; compiled code is in the user's cache.
func startCheck(ctx context.Context, l *lab) (float64, error) {
	program, err := l.program()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	_, err = exec.CommandContext(ctx, program, "check", "--offline", usualAddress).Output()
	return milliseconds(begun), explain(err)
}

func startServe(ctx context.Context, l *lab) (float64, error) {
	dns, err := l.dns()
	if err != nil {
		return 0, err
	}
	return l.startAndAsk(ctx, dns)
}

// startServeDead is startServe with a resolver that does not answer.
func startServeDead(ctx context.Context, l *lab) (float64, error) {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer silent.Close()
	return l.startAndAsk(ctx, silent.LocalAddr().String())
}

// startAndAsk starts the service on a database that exists and asks GET /v1/usage,
// which needs a key and the ledger, but no resolver.
func (l *lab) startAndAsk(ctx context.Context, dns string) (float64, error) {
	database := "sqlite:" + filepath.Join(l.dir, "start.db")
	if l.startKey == "" {
		key, err := l.account(database, "start")
		if err != nil {
			return 0, err
		}
		l.startKey = key
	}
	begun := time.Now()
	s, err := l.serve(database, dns)
	if err != nil {
		return 0, err
	}
	defer s.Kill()
	d := load{url: s.url + "/v1/usage", key: l.startKey}
	err = d.sendOne(http.DefaultClient)
	return milliseconds(begun), err
}
