package main

import "slices"

// A result is what the runs of a row gave.
type result struct {
	row
	pairs []pair
	err   error // why the row has no figures
}

func (r *result) add(p pair, err error) {
	if r.err = err; err == nil {
		r.pairs = append(r.pairs, p)
	}
}

// median returns the median of f over the runs.
func (r *result) median(f func(pair) float64) float64 {
	return median(r.each(f))
}

func (r *result) each(f func(pair) float64) []float64 {
	list := make([]float64, len(r.pairs))
	for n, p := range r.pairs {
		list[n] = f(p)
	}
	return list
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
