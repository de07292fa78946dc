package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// A load is requests on some connections, each of which sends the next once it has the
// response. They are equal, except for what keys and from say.
type load struct {
	url         string
	keys        []string // the requests use them in turn
	body        string   // POST if not empty, else GET
	from        int64    // if not 0, each # of a body is the body's number, the first of which this is
	connections int
	span        time.Duration
	waits       bool // for the last responses; see freshKey
}

// sent is what a load has sent.
type sent struct {
	Requests int64         `json:"requests"`
	Took     time.Duration `json:"took"`
	Errors   int64         `json:"errors"` // among them
	P50      time.Duration `json:"p50"`    // of the times until a response
	P99      time.Duration `json:"p99"`
}

// rate returns the requests a second. A load with a response other than 200 is an error,
// since such responses may be faster.
func (s sent) rate() (float64, error) {
	switch {
	case s.Errors > 0:
		return 0, fmt.Errorf("%d of %d requests failed", s.Errors, s.Requests)
	case s.Requests <= 0 || s.Took <= 0:
		return 0, errors.New("no request got a response")
	}
	return float64(s.Requests) / s.Took.Seconds(), nil
}

// A cost is what the responses to a load cost.
type cost struct {
	sent
	rate float64 // requests a second
	used float64 // processor time of a request in microseconds
}

// cost has another process send a load to the process pid.
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
	origintest.DieWithParent(cmd)
	out, err := cmd.Output()
	if err != nil {
		return s, origintest.Explain(err)
	}
	return s, json.Unmarshal(out, &s)
}

// sendLoad is the process that sends a load where wrk is missing. It prints what it
// sent as JSON.
func sendLoad(args []string) int {
	d, err := readLoad(args, os.Stdin)
	if err != nil {
		return failed(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(d.send()); err != nil {
		return failed(err)
	}
	return 0
}

// readLoad reads what load.own passes on.
func readLoad(args []string, in io.Reader) (d load, err error) {
	if len(args) != 4 {
		return d, errors.New("usage: role-load URL CONNECTIONS LENGTH FROM")
	}
	d.url = args[0]
	if d.connections, err = strconv.Atoi(args[1]); err != nil {
		return d, err
	}
	if d.span, err = time.ParseDuration(args[2]); err != nil {
		return d, err
	}
	if d.from, err = strconv.ParseInt(args[3], 10, 64); err != nil {
		return d, err
	}
	text, err := io.ReadAll(in)
	keys, body, found := strings.Cut(string(text), "\n\n")
	if !found {
		return d, errors.Join(err, errors.New("standard input has no empty line between keys and body"))
	}
	d.keys, d.body = strings.Fields(keys), body
	return d, err
}

// A sender sends a load from this process.
type sender struct {
	load
	client *http.Client
	end    time.Time
	next   atomic.Int64 // number of the next request
}

func (d load) send() (total sent) {
	transport := &http.Transport{MaxIdleConnsPerHost: d.connections, MaxConnsPerHost: d.connections}
	defer transport.CloseIdleConnections()
	begun := time.Now()
	s := &sender{load: d, client: &http.Client{Transport: transport}, end: begun.Add(d.span)}
	times, failures := make([][]time.Duration, d.connections), atomic.Int64{}
	var connections sync.WaitGroup
	for n := range times {
		connections.Go(func() { times[n] = s.sendOn(&failures) })
	}
	connections.Wait()
	all := slices.Concat(times...)
	slices.Sort(all)
	return sent{int64(len(all)), time.Since(begun), failures.Load(), percentile(all, 50), percentile(all, 99)}
}

// percentile returns the time that percent of the sorted times do not exceed.
func percentile(times []time.Duration, percent int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	return times[(len(times)-1)*percent/100]
}

// sendOn sends requests one after another, and returns their times.
func (s *sender) sendOn(failures *atomic.Int64) (times []time.Duration) {
	for begun := time.Now(); begun.Before(s.end); begun = time.Now() {
		if s.sendOne() != nil {
			failures.Add(1)
		}
		times = append(times, time.Since(begun))
	}
	return times
}

func (s *sender) sendOne() error {
	n := s.next.Add(1)
	request, err := s.request(n)
	if err != nil {
		return err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}

// request returns the n-th request of the load.
func (d load) request(n int64) (*http.Request, error) {
	method, body := http.MethodGet, d.body
	if body != "" {
		method = http.MethodPost
	}
	if d.from != 0 {
		body = strings.ReplaceAll(body, "#", strconv.FormatInt(d.from+n, 10))
	}
	request, err := http.NewRequest(method, d.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if len(d.keys) > 0 {
		request.Header.Set("X-API-Key", d.keys[n%int64(len(d.keys))])
	}
	request.Header.Set("Content-Type", "application/json")
	return request, nil
}

// sendOnce sends one request of the load and returns an error for any response but 200.
func (d load) sendOnce() error {
	return (&sender{load: d, client: http.DefaultClient}).sendOne()
}

// wrk runs wrk with a script, which has the request, so that no key is among the
// arguments that every user of the machine can read.
func (l *lab) wrk(ctx context.Context, path string, d load) (sent, error) {
	script, err := os.CreateTemp(l.dir, "load-*.lua")
	if err != nil {
		return sent{}, err
	}
	defer os.Remove(script.Name())
	_, err = script.WriteString(d.script())
	if err = errors.Join(err, script.Close()); err != nil {
		return sent{}, err
	}
	cmd := exec.CommandContext(ctx, path, "-t1", fmt.Sprintf("-c%d", d.connections),
		fmt.Sprintf("-d%ds", max(1, int(d.span.Seconds()))), "-s", script.Name(), d.url)
	origintest.DieWithParent(cmd)
	out, err := cmd.Output()
	if err != nil {
		return sent{}, origintest.Explain(err)
	}
	return readWrk(string(out))
}

// script is the load as a script of wrk, which prints what was sent as one line. wrk's
// own text rounds. wrk counts only statuses over 399 as errors; our server and the bare
// one send no other than these and 200.
func (d load) script() string {
	var b strings.Builder
	method := "GET"
	if d.body != "" {
		method = "POST"
	}
	fmt.Fprintf(&b, "wrk.method, wrk.body = %q, %q\n", method, d.body)
	b.WriteString("wrk.headers[\"Content-Type\"] = \"application/json\"\nkeys = {}\n")
	for n, key := range d.keys {
		fmt.Fprintf(&b, "keys[%d] = %q\n", n+1, key)
	}
	fmt.Fprintf(&b, "from = %d\n", d.from)
	b.WriteString(wrkScript)
	return b.String()
}

// wrkScript makes one request for each key before the load begins. Only bodies with
// numbers are made during the load, which costs wrk time.
const wrkScript = `
ready, calls = {}, 0
function init()
  for n = 1, math.max(1, #keys) do
    wrk.headers["X-API-Key"] = keys[n]
    ready[n] = wrk.format()
  end
end
function request()
  calls = calls + 1
  if from == 0 then return ready[calls % #ready + 1] end
  wrk.headers["X-API-Key"] = keys[calls % #ready + 1]
  return wrk.format(nil, nil, nil, (wrk.body:gsub("#", tostring(from + calls))))
end
function done(summary, latency)
  local e = summary.errors
  print(string.format("sent %d %d %d %d %d", summary.requests, summary.duration,
    e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(50), latency:percentile(99)))
end
`

// readWrk reads the line that wrkScript prints among the output of wrk.
func readWrk(out string) (sent, error) {
	const line = "sent"
	for lines := bufio.NewScanner(strings.NewReader(out)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) != 6 || words[0] != line {
			continue
		}
		var numbers [5]int64
		for n := range numbers {
			var err error
			if numbers[n], err = strconv.ParseInt(words[n+1], 10, 64); err != nil {
				return sent{}, err
			}
		}
		return sent{numbers[0], micros(numbers[1]), numbers[2], micros(numbers[3]), micros(numbers[4])}, nil
	}
	return sent{}, errors.New("wrk did not print what it sent")
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// tick is the unit in which Linux counts processor time for programs (USER_HZ).
const tick = 10 * time.Millisecond

// processorTime returns the processor time that a process has used so far, of the
// user and the system. It is 0 where there is no /proc.
func processorTime(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	return readStat(string(text))
}

// readStat reads fields 14 and 15 of /proc/PID/stat (proc_pid_stat(5)). Field 2 is the
// name, which may contain spaces and parentheses, so it counts from the last one.
func readStat(text string) time.Duration {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const user, system = 14 - 3, 15 - 3 // the first field is the third
	if len(fields) <= system {
		return 0
	}
	var ticks int64
	for _, field := range []string{fields[user], fields[system]} {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * tick
}

// perUnit returns the microseconds of processor time for each of n units of work.
func perUnit(used time.Duration, n float64) float64 {
	if n <= 0 {
		return 0
	}
	return float64(used.Nanoseconds()) / 1000 / n
}

// slice is how long one function of beside runs before it is the other's turn. It is
// shorter than the time for which the system usually lets a process run, so that few
// slices contain the work of another process.
const slice = time.Millisecond

// beside returns the nanoseconds of a call of ours and of peer. They take turns for
// span, a slice each, and the figures are the medians of the slices.
func beside(span time.Duration, ours, peer func()) pair {
	calls, peerCalls := callsIn(slice, ours), callsIn(slice, peer)
	var times, peerTimes []float64
	for begun := time.Now(); time.Since(begun) < span || len(times) == 0; {
		times = append(times, nanoseconds(calls, ours))
		peerTimes = append(peerTimes, nanoseconds(peerCalls, peer))
	}
	return pair{Ours: median(times), Peer: median(peerTimes)}
}

// callsIn returns how often f can be called in span, about. It warms f up.
func callsIn(span time.Duration, f func()) int {
	const most = 1 << 24 // of a function without work
	for n := 1; ; n *= 2 {
		if t := nanoseconds(n, f) * float64(n); t >= float64(span) || n >= most {
			return n
		}
	}
}

// nanoseconds returns how long a call of f takes, on average over some calls.
func nanoseconds(calls int, f func()) float64 {
	begun := time.Now()
	for range calls {
		f()
	}
	return float64(time.Since(begun).Nanoseconds()) / float64(calls)
}

// flushSize is what SQLite's log gets for a charge: two pages with their headers.
const flushSize = 2 * (4096 + 24)

// flushes returns how often a second the disk of the databases takes a write of
// flushSize and its flush, one after another.
func (l *lab) flushes() (float64, error) {
	f, err := os.CreateTemp(l.dir, "flush-")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	data, begun, n := make([]byte, flushSize), time.Now(), 0
	for ; time.Since(begun) < l.span/2; n++ {
		if _, err := f.WriteAt(data, int64(n%64)*flushSize); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(begun).Seconds(), nil
}
