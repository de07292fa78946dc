package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// A tally counts requests by outcome.
type tally struct {
	mu       sync.Mutex
	points   int64 // that responses reported
	doubtful int64 // of requests that were cut or hung up: they may have been charged
	requests int
	hungUp   int
	refused  int
	cuts     []error
	status   map[int]int
	odd      []error         // responses that differ from the contract
	took     []time.Duration // of responses with 200
	slowest  time.Duration   // of all responses
}

func (t *tally) count(r request, o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests++
	switch o.kind {
	case refused:
		t.refused++
	case cut:
		t.cuts = append(t.cuts, o.err)
		t.doubtful += r.cost()
	case hungUp:
		t.hungUp++
		t.doubtful += r.cost()
	case answered:
		t.countResponse(r, o)
	}
}

func (t *tally) countResponse(r request, o outcome) {
	points, err := o.points(r)
	if err != nil {
		t.odd = append(t.odd, err)
	}
	t.points += points
	if t.status == nil {
		t.status = map[int]int{}
	}
	t.status[o.status]++
	t.slowest = max(t.slowest, o.took)
	if o.status == 200 {
		t.took = append(t.took, o.took)
	}
}

// responses returns the number of responses with this status.
func (t *tally) responses(status int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status[status]
}

// times returns how long each response with 200 took so far.
func (t *tally) times() []time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.took
}

// charged returns the points that responses reported, without and with those in
// doubt.
func (t *tally) charged() (least, most int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.points, t.points + t.doubtful
}

// firstCut returns the error of the first cut request, or nil.
func (t *tally) firstCut() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.cuts) == 0 {
		return nil
	}
	return t.cuts[0]
}

// expectContract records responses that differ from the contract as failures.
func (s *session) expectContract(t *tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, err := range t.odd[:min(3, len(t.odd))] {
		s.expect(false, "%v", err)
	}
	s.expect(t.status[500] == 0, "%d responses were 500", t.status[500])
}

// String returns the counts and times as one line.
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var statuses []string
	for status, count := range t.status {
		statuses = append(statuses, fmt.Sprintf("%d: %d", status, count))
	}
	slices.Sort(statuses)
	return fmt.Sprintf("%d requests (%s; refused: %d, cut: %d, hung up: %d), %d points; p50 %s, p99 %s, slowest %s",
		t.requests, strings.Join(statuses, ", "), t.refused, len(t.cuts), t.hungUp, t.points,
		round(percentile(t.took, 50)), round(percentile(t.took, 99)), round(t.slowest))
}
