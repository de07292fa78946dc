package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A load is requests on some connections, each of which sends the next once it has the
// answer. They are equal, except for what keys and from say.
type load struct {
	url         string
	keys        []string // the requests use them in turn
	body        string   // POST if not empty, else GET
	from        int64    // if not 0, each # of a body is the body's number, the first of which this is
	connections int
	span        time.Duration
	waits       bool // for the last answers; see freshKey
}

// sent is what a load has sent.
type sent struct {
	Requests int64         `json:"requests"`
	Took     time.Duration `json:"took"`
	Errors   int64         `json:"errors"` // among them
	P50      time.Duration `json:"p50"`    // of the times until an answer
	P99      time.Duration `json:"p99"`
}

// rate returns the requests a second. A load with an answer other than 200 is an error,
// since such answers may be faster.
func (s sent) rate() (float64, error) {
	switch {
	case s.Errors > 0:
		return 0, fmt.Errorf("%d of %d requests failed", s.Errors, s.Requests)
	case s.Requests <= 0 || s.Took <= 0:
		return 0, errors.New("no request was answered")
	}
	return float64(s.Requests) / s.Took.Seconds(), nil
}

// A cost is what the answers to a load cost.
type cost struct {
	sent
	rate float64 // requests a second
	used float64 // processor time of a request in microseconds
}

// cost has another process send a load, which the process pid answers.
func (l *lab) cost(ctx context.Context, d load, pid int) (c cost, err error) {
	d.span = l.span
	before := processorTime(pid)
	if c.sent, err = l.sendFromProcess(ctx, d); err != nil {
		return c, err
	}
	c.used = perUnit(processorTime(pid)-before, float64(c.Requests))
	c.rate, err = c.sent.rate()
	return c, err
}

func (l *lab) sendFromProcess(ctx context.Context, d load) (sent, error) {
	if path, err := exec.LookPath("wrk"); err == nil && !d.waits {
		return l.wrk(ctx, path, d)
	}
	return d.own(ctx)
}

// besidePeer returns the pair of two costs whose requests have so many units each.
func (c cost) besidePeer(peer cost, units float64) pair {
	return pair{
		Ours: c.rate * units, Peer: peer.rate, Used: c.used / units, PeerUsed: peer.used,
		P50: inMilliseconds(c.P50), P99: inMilliseconds(c.P99),
	}
}

func inMilliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// own runs this program as the process that sends the load. Standard input has the keys
// and the body, since every user of the machine can read arguments.
func (d load) own(ctx context.Context) (s sent, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	cmd := exec.CommandContext(ctx, self, "role-load", d.url, fmt.Sprint(d.connections), d.span.String(), fmt.Sprint(d.from))
	cmd.Stdin = strings.NewReader(strings.Join(d.keys, "\n") + "\n\n" + d.body)
	dieWithParent(cmd)
	out, err := cmd.Output()
	if err != nil {
		return s, explain(err)
	}
	return s, json.Unmarshal(out, &s)
}
