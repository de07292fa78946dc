package main

import (
	"context"
	"errors"
	"fmt"
)

// A row is one line of the table.
type row struct {
	name   string
	unit   string // of ours
	peer   string // what the figure is compared with
	target target

	// measure measures ours and the peer, one right after the other.
	measure func(context.Context, *lab) (pair, error)
}

// A pair is one measurement of a row. What a row does not measure is 0.
type pair struct {
	Ours float64 `json:"ours"`
	Peer float64 `json:"peer"`

	// Processor time of a request, an address or a start, in microseconds.
	Used     float64 `json:"used,omitempty"`
	PeerUsed float64 `json:"peer_used,omitempty"`

	// The times of answers of ours, in milliseconds.
	P50 float64 `json:"p50,omitempty"`
	P99 float64 `json:"p99,omitempty"`
}

func (p pair) ratio() float64 { return p.Ours / p.Peer }

// A target bounds the ratio of ours and the peer.
type target struct {
	bound float64
	most  bool // the ratio is at most the bound, else at least
}

func atLeast(bound float64) target { return target{bound, false} }
func atMost(bound float64) target  { return target{bound, true} }

func (t target) met(ratio float64) bool { return t.most == (ratio <= t.bound) || ratio == t.bound }

func (t target) String() string {
	if t.bound == 0 {
		return ""
	}
	if t.most {
		return fmt.Sprintf("≤ %.4g", t.bound)
	}
	return fmt.Sprintf("≥ %.4g", t.bound)
}

// errMeasured is the error of a row that takes minutes, after its first run.
var errMeasured = errors.New("measured in the first run")

// errSkipped is wrapped by the error of a row that cannot be measured on this machine.
var errSkipped = errors.New("skipped")

func skip(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errSkipped, fmt.Sprintf(format, args...))
}

// rows are all rows, in the order of the table.
func rows() []row {
	var list []row
	for _, family := range [][]row{singles(), batches(), replicaRows(), edgeRows(), moduleRows(), parseRows(), mxRows(), commandRows(), startRows(), memoryRows(), growthRows()} {
		list = append(list, family...)
	}
	return list
}
