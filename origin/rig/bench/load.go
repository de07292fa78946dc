package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// A load is requests on some connections, each of which sends the next once it has the
// response.
type load struct {
	Address     string // host:port
	Target      string
	Key         string
	Body        string // POST if not empty, else GET
	From        int64  // if not 0, each # of a body is the body's number, the first of which this is
	Connections int
	Span        time.Duration // each connection sends one request at least
}

// sent is what a load has sent.
type sent struct {
	Requests int64
	Took     time.Duration
	P50, P99 time.Duration // of the times until a response
}

// send sends the load from this process. Any response but 200 is an error, since such responses
// may be faster. It ends once the last response has arrived: an account whose client hangs up too
// often is refused.
func (d load) send() (s sent, err error) {
	request := origintest.Request{Method: http.MethodGet, Target: d.Target, KeepAlive: true, Body: d.Body,
		Header: []string{"X-API-Key: " + d.Key, "Content-Type: application/json"}}
	if d.Body != "" {
		request.Method = http.MethodPost
	}
	text := request.Text(d.Address)
	var numbers atomic.Int64
	var all errgroup.Group
	times, begun := make([][]time.Duration, d.Connections), time.Now()
	connection := func(n int) error {
		conn, err := origintest.Connect(d.Address, d.Span+time.Minute)
		if err != nil {
			return err
		}
		defer conn.Close()
		for once := true; once || time.Since(begun) < d.Span; once = false {
			next := text
			if d.From != 0 {
				numbered := request
				numbered.Body = strings.ReplaceAll(d.Body, "#", strconv.FormatInt(d.From+numbers.Add(1), 10))
				next = numbered.Text(d.Address)
			}
			at := time.Now()
			if _, err := io.WriteString(conn, next); err != nil {
				return err
			}
			response, body, err := conn.ReadResponse(request.Method)
			if err != nil {
				return err
			}
			if response.StatusCode != http.StatusOK {
				return fmt.Errorf("a request failed: %s: %.300s", response.Status, body)
			}
			times[n] = append(times[n], time.Since(at))
		}
		return nil
	}
	for n := range times {
		all.Go(func() error { return connection(n) })
	}
	if err := all.Wait(); err != nil {
		return s, err
	}
	list := slices.Sorted(slices.Values(slices.Concat(times...)))
	return sent{int64(len(list)), time.Since(begun), list[len(list)/2], list[(len(list)-1)*99/100]}, nil
}

// sendLoad is the process that sends a load. Standard input has the load, because every user of the
// machine can read arguments, and a load has a key.
func sendLoad() error {
	var d load
	if err := json.NewDecoder(os.Stdin).Decode(&d); err != nil {
		return err
	}
	s, err := d.send()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

// A cost is what the responses to a load cost.
type cost struct {
	sent
	rate float64 // requests a second
	used float64 // processor time of a request in microseconds
}

// cost has another process send a load to the process pid for a span. If its requests are all
// equal, a short load of this process fills caches before.
func (l *lab) cost(d load, pid int) (c cost) {
	warm := d
	warm.Connections = 1 // so that domains are looked up within the account's limit on lookups
	for _, span := range []time.Duration{0, 200 * time.Millisecond} {
		warm.Span = span
		if d.From == 0 {
			_, err := warm.send()
			l.check(err)
		}
		warm.Connections = d.Connections
	}
	d.Span = l.span
	text, err := json.Marshal(d)
	l.check(err)
	self, err := os.Executable()
	l.check(err)
	cmd := exec.CommandContext(l.ctx, self, "role-load")
	cmd.Stdin = bytes.NewReader(text)
	origintest.DieWithParent(cmd)
	before := processorTime(pid)
	out, err := cmd.Output()
	used := processorTime(pid) - before
	l.check(origintest.Explain(err))
	l.check(json.Unmarshal(out, &c.sent))
	c.rate = float64(c.Requests) / c.Took.Seconds()
	c.used = microseconds(used) / float64(c.Requests)
	return c
}

// besidePeer returns the pair of two costs whose requests have so many units each.
func (c cost) besidePeer(peer cost, units float64) pair {
	return pair{Ours: c.rate * units, Peer: peer.rate, Used: c.used / units, PeerUsed: peer.used,
		P50: microseconds(c.P50) / 1000, P99: microseconds(c.P99) / 1000}
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// processorTime returns the processor time that a process has used so far, of the
// user and the system. It is 0 where there is no /proc. Linux counts it in ticks of 10 ms, in
// fields 14 and 15 of /proc/PID/stat (proc_pid_stat(5)). Field 2 is the name, which may contain
// spaces and parentheses, so it counts from the last one.
func processorTime(pid int) (used time.Duration) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const user, system = 14 - 3, 15 - 3 // the first field is the third
	if len(fields) <= system {
		return 0
	}
	for _, field := range []string{fields[user], fields[system]} {
		ticks, _ := strconv.ParseInt(field, 10, 64)
		used += time.Duration(ticks) * 10 * time.Millisecond
	}
	return used
}

// beside returns the nanoseconds of a call of ours and of peer. They take turns for
// span, a slice of a millisecond each, and the figures are the medians of the slices. A slice is
// shorter than the time for which the system usually lets a process run, so that few
// slices contain the work of another process.
func beside(span time.Duration, ours, peer func()) pair {
	nanoseconds := func(calls int, f func()) float64 {
		begun := time.Now()
		for range calls {
			f()
		}
		return float64(time.Since(begun).Nanoseconds()) / float64(calls)
	}
	callsIn := func(slice time.Duration, f func()) (n int) {
		for n = 1; n < 1<<24 && nanoseconds(n,
			f)*float64(n) < float64(slice); { // the most is for a function without work
			n *= 2
		}
		return n
	}
	calls, peerCalls := callsIn(time.Millisecond, ours), callsIn(time.Millisecond, peer)
	var times, peerTimes []float64
	for begun := time.Now(); time.Since(begun) < span || len(times) == 0; {
		times = append(times, nanoseconds(calls, ours))
		peerTimes = append(peerTimes, nanoseconds(peerCalls, peer))
	}
	return pair{Ours: median(times), Peer: median(peerTimes)}
}
