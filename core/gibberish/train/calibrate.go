package main

import (
	"fmt"
	"math"

	"github.com/addrspec/addrspec/core/eval/people"
	"github.com/addrspec/addrspec/core/gibberish/internal/model"
)

// prior is the share of random local parts that the score assumes: a form that
// bots have found.
const prior = 0.075

// The curve from sums to probabilities. Generated local parts differ less from
// each other than real ones do, so a curve that is fitted to them is too steep.
// These two numbers are all that real addresses decide; -people fits them.
// MODEL.md says to whose addresses.
const (
	slope  = 0.1194
	offset = -1.349
)

// flatness makes the curve flatter around one half. A score has two decimals, and
// of a steeper curve most scores are 0.00: too few are left to sort by.
const flatness = 0.85

// steps is the number of entries in the table of probabilities.
const steps = 2 * model.Reach / model.Grain

// curve returns the probability, in hundredths, of each sum.
func curve(slope, offset float64) []byte {
	table := make([]byte, steps)
	for i := range table {
		odds := float64(slope*float64(i-steps/2)) + offset
		table[i] = byte(math.Round(100 * logistic(float64(flatness*odds))))
	}
	return table
}

// calibrate prints the curve that fits the people in the histories of git
// repositories and generated random strings, half of them of the kinds that
// relay services draw.
func calibrate(dirs []string, g *generator) error {
	found, err := people.Read(dirs)
	if err != nil {
		return err
	}
	var real, random [steps]float64
	for _, name := range found.Named {
		count(&real, name, (1-prior)/float64(len(found.Named)))
	}
	for range drawn {
		count(&random, g.random(), prior/2/drawn)
		count(&random, g.choose(relayKinds), prior/2/drawn)
	}
	slope, offset := platt(&real, &random)
	offset -= math.Log(1 - mistaken)
	fmt.Printf("%d people: slope %.4f, offset %.3f\n", len(found.Named), slope, offset)
	return nil
}

// mistaken is the share of random strings among the real addresses that look
// random, as judged by hand: people also register addresses at random. It
// shifts the odds by as much.
const mistaken = 0.15

// drawn is how many random strings of either half are drawn for the calibration.
const drawn = 100_000

// count adds weight at the sum of name in the model in use.
func count(at *[steps]float64, name string, weight float64) {
	if sum, ok := sumOf([]byte(model.Trained[:model.TableSize]), name); ok {
		at[step(sum)] += weight
	}
}

// step returns the index of a sum's probability.
func step(sum int) int {
	return (max(-model.Reach, min(sum, model.Reach-1)) + model.Reach) / model.Grain
}

// platt fits a logistic curve to counts by step (Platt scaling), by Newton's
// method.
func platt(real, random *[steps]float64) (slope, offset float64) {
	slope = 0.1
	for range 50 {
		var ds, do, ss, so, oo float64 // the first and second derivatives of the loss
		for i := range real {
			x := float64(i - steps/2)
			p := logistic(float64(slope*x) + offset)
			e := float64(real[i]*p) - float64(random[i]*(1-p))
			h := float64((real[i] + random[i]) * p * (1 - p))
			ds, do = ds+float64(e*x), do+e
			ss, so, oo = ss+float64(h*x*x), so+float64(h*x), oo+h
		}
		det := float64(ss*oo) - float64(so*so)
		slope -= (float64(oo*ds) - float64(so*do)) / det
		offset -= (float64(ss*do) - float64(so*ds)) / det
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
