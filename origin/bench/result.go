package main

import (
	"errors"
	"slices"
)

// A result is what the runs of a row gave.
type result struct {
	row
	pairs []pair
	err   error // why the row has no figures
}

func (r *result) add(p pair, err error) {
	if errors.Is(err, errMeasured) {
		return
	}
	if r.err = err; err == nil {
		r.pairs = append(r.pairs, p)
	}
}

// figures are the measurements of one row, as -json writes them.
type figures struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Peer   string  `json:"peer"`
	Target string  `json:"target,omitempty"`
	Met    bool    `json:"met"`
	Figure spread  `json:"figure"`
	Used   *spread `json:"processor_time,omitempty"` // microseconds
	P50    float64 `json:"p50,omitempty"`            // milliseconds until an answer of ours
	P99    float64 `json:"p99,omitempty"`
	Pairs  []pair  `json:"runs"`
	Error  string  `json:"error,omitempty"`
}

// A spread sums up pairs of figures over the runs.
type spread struct {
	Ours    float64 `json:"ours"` // median, as are the two below
	Peer    float64 `json:"peer"`
	Ratio   float64 `json:"ratio"`
	Lowest  float64 `json:"ratio_lowest"`
	Highest float64 `json:"ratio_highest"`
}

func (r *result) figures() figures {
	f := figures{Name: r.name, Unit: r.unit, Peer: r.peer, Target: r.target.String(), Pairs: r.pairs}
	if r.err != nil {
		f.Error = r.err.Error()
		return f
	}
	f.Figure = spreadOf(each(r.pairs, pair.figure))
	f.Met = r.target.met(f.Figure.Ratio)
	if used := spreadOf(each(r.pairs, pair.used)); used.Ours > 0 {
		f.Used = &used
	}
	f.P50 = median(each(r.pairs, func(p pair) float64 { return p.P50 }))
	f.P99 = median(each(r.pairs, func(p pair) float64 { return p.P99 }))
	return f
}

func (p pair) figure() [2]float64 { return [2]float64{p.Ours, p.Peer} }
func (p pair) used() [2]float64   { return [2]float64{p.Used, p.PeerUsed} }

// spreadOf has no ratio if a peer has no figure.
func spreadOf(pairs [][2]float64) (s spread) {
	s.Ours = median(each(pairs, func(p [2]float64) float64 { return p[0] }))
	s.Peer = median(each(pairs, func(p [2]float64) float64 { return p[1] }))
	if slices.ContainsFunc(pairs, func(p [2]float64) bool { return p[1] == 0 }) {
		return s
	}
	ratios := each(pairs, func(p [2]float64) float64 { return p[0] / p[1] })
	s.Ratio, s.Lowest, s.Highest = median(ratios), slices.Min(ratios), slices.Max(ratios)
	return s
}

func each[T, U any](list []T, f func(T) U) []U {
	to := make([]U, len(list))
	for n, x := range list {
		to[n] = f(x)
	}
	return to
}

// median returns the middle of list, or the mean of the two in the middle; 0 for
// none.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	middle := len(list) / 2
	if len(list)%2 == 1 {
		return list[middle]
	}
	return (list[middle-1] + list[middle]) / 2
}
