package main

import (
	"math"

	"github.com/addrspec/addrspec/core/gibberish"
)

// prior is how common random local parts are taken to be.
const prior = 0.15

// calibrate returns the probability, in hundredths, that a local part with a
// given sum is random: a logistic curve of the sum (Platt scaling) fitted to
// local parts the weights were not fitted to.
func calibrate(weights []byte, m *maker, samples int) []byte {
	const steps = 2 * gibberish.Reach / gibberish.Grain
	var count [2][steps]float64
	for range samples {
		name, label := m.sample()
		if sum, ok := sumOf(weights, name); ok {
			sum = max(-gibberish.Reach, min(sum, gibberish.Reach-1))
			count[int(label)][(sum+gibberish.Reach)/gibberish.Grain]++
		}
	}
	slope, offset := platt(count[0][:], count[1][:])
	table := make([]byte, steps)
	for i := range table {
		x := slope*(float64(i)-steps/2) + offset
		table[i] = byte(math.Round(100 * logistic(x)))
	}
	return table
}

// platt fits a logistic curve to counts by step, by gradient descent.
func platt(real, random []float64) (slope, offset float64) {
	all := 0.0
	for i := range real {
		all += real[i]*(1-prior) + random[i]*prior
	}
	slope = 0.1
	for range 20000 {
		var ds, do float64
		for i := range real {
			x := float64(i) - float64(len(real)/2)
			p := logistic(slope*x + offset)
			e := (real[i]*(1-prior)*p - random[i]*prior*(1-p)) / all
			ds += e * x
			do += e
		}
		slope -= 0.01 * ds
		offset -= 0.5 * do
	}
	return slope, offset
}

// sumOf is the sum that Score would find with these weights.
func sumOf(weights []byte, name string) (int, bool) {
	least, found := 0, false
	for _, reading := range gibberish.Readings(nil, []byte(name)) {
		sum := 0
		for _, i := range reading {
			sum += int(int8(weights[i]))
		}
		if !found || sum < least {
			least, found = sum, true
		}
	}
	return least, found
}
