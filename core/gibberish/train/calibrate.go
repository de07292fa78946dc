package main

import (
	"math"

	"github.com/addrspec/addrspec/core/gibberish/internal/model"
)

// prior is the assumed share of random local parts.
const prior = 0.1

// confidence flattens the curve. Real names and random strings are more varied
// than the generated ones, so the true certainty is lower.
const confidence = 0.7

// steps is the number of entries in the table of probabilities.
const steps = 2 * model.Reach / model.Grain

// calibrate returns the probability, in hundredths, that a local part with a
// given sum is random: a logistic curve of the sum (Platt scaling), fitted to
// local parts that the weights were not fitted to.
func calibrate(weights []byte, g *generator, samples int) []byte {
	var real, random [steps]float64 // how many have each sum, weighted by the prior
	for range samples {
		name, label := g.sample()
		sum, ok := sumOf(weights, name)
		if !ok {
			continue
		}
		if label == 1 {
			random[step(sum)] += prior
		} else {
			real[step(sum)] += 1 - prior
		}
	}
	slope, offset := platt(&real, &random)
	table := make([]byte, steps)
	for i := range table {
		x := float64(slope*float64(i-steps/2)) + offset
		table[i] = byte(math.Round(100 * logistic(confidence*x)))
	}
	return table
}

// step returns the index of a sum's probability.
func step(sum int) int {
	return (max(-model.Reach, min(sum, model.Reach-1)) + model.Reach) / model.Grain
}

// platt fits a logistic curve to counts by step, by gradient descent.
func platt(real, random *[steps]float64) (slope, offset float64) {
	all := 0.0
	for i := range real {
		all += real[i] + random[i]
	}
	slope = 0.1
	for range 20000 {
		var ds, do float64
		for i := range real {
			x := float64(i - steps/2)
			p := logistic(float64(slope*x) + offset)
			e := (float64(real[i]*p) - float64(random[i]*(1-p))) / all
			ds += float64(e * x)
			do += e
		}
		slope -= float64(0.01 * ds)
		offset -= float64(0.5 * do)
	}
	return slope, offset
}

// sumOf returns what model.Name.Sum would return with these weights.
func sumOf(weights []byte, name string) (int, bool) {
	least, found := 0, false
	for _, reading := range model.Readings(nil, []byte(name)) {
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
