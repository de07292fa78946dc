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
	points   int64 // of answers that reported them
	doubtful int64 // of requests that were cut or left: these may have been charged
	requests int
	left     int
	refused  int
	cuts     []error
	status   map[int]int
	odd      []error         // how answers differ from the contract
	took     []time.Duration // of answers of 200
	slowest  time.Duration   // of all answers
}

func (t *tally) count(r request, o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests++
	switch o.fate {
	case refused:
		t.refused++
	case cut:
		t.cuts = append(t.cuts, o.err)
		t.doubtful += r.cost()
	case left:
		t.left++
		t.doubtful += r.cost()
	case answered:
		t.countAnswer(r, o)
	}
}

func (t *tally) countAnswer(r request, o outcome) {
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

// answers counts the answers with this status.
func (t *tally) answers(status int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status[status]
}

// times is how long the answers of 200 took so far.
func (t *tally) times() []time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.took
}

// charged is the points that answers reported, without and with those in doubt.
func (t *tally) charged() (least, most int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.points, t.points + t.doubtful
}

// firstCut is the error of the first request that was cut, or nil.
func (t *tally) firstCut() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.cuts) == 0 {
		return nil
	}
	return t.cuts[0]
}

// expectContract notes answers that differ from the contract.
func (s *scene) expectContract(t *tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, err := range t.odd[:min(3, len(t.odd))] {
		s.expect(false, "%v", err)
	}
	s.expect(t.status[500] == 0, "%d answers of 500", t.status[500])
}

// String is the figures.
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var statuses []string
	for status, count := range t.status {
		statuses = append(statuses, fmt.Sprintf("%d: %d", status, count))
	}
	slices.Sort(statuses)
	return fmt.Sprintf("%d requests (%s; refused: %d, cut: %d, hung up: %d), %d points; p50 %s, p99 %s, slowest %s",
		t.requests, strings.Join(statuses, ", "), t.refused, len(t.cuts), t.left, t.points,
		round(percentile(t.took, 50)), round(percentile(t.took, 99)), round(t.slowest))
}
