package main

import (
	"math"

	"github.com/addrspec/addrspec/core/gibberish/internal/model"
)

// fit finds the weights by logistic regression: one pass over samples drawn
// afresh, with AdaGrad step sizes.
type fit struct {
	weight  [model.TableSize]float64
	squares [model.TableSize]float64
}

const (
	stepSize = 0.15
	decay    = 2e-6 // pulls a weight to zero each time it is used
)

func (f *fit) learn(m *maker, samples int) {
	for i := range f.squares {
		f.squares[i] = 1
	}
	var readings [][]uint16
	for n := range samples {
		name, label := m.sample()
		readings = model.Readings(readings[:0], []byte(name))
		if len(readings) == 0 {
			continue
		}
		rate := stepSize * (1 - float64(n)/float64(samples))
		f.step(f.lower(readings), label, rate, m)
	}
}

// sample is a made-up local part and 1 where it is random, else 0.
func (m *maker) sample() (string, float64) {
	if m.odds(2) {
		return m.random(), 1
	}
	return m.real(), 0
}

// lower returns the reading with the lower sum, the one that Score takes.
func (f *fit) lower(readings [][]uint16) []uint16 {
	best, least := 0, math.Inf(1)
	for i, r := range readings {
		if s := f.sum(r); s < least {
			best, least = i, s
		}
	}
	return readings[best]
}

func (f *fit) sum(features []uint16) float64 {
	s := 0.0
	for _, i := range features {
		s += f.weight[i]
	}
	return s
}

// step moves the weights of one sample against its error. Now and then the
// longer sequences are left out, so that the shorter ones carry weight of
// their own: they are what an unknown name has in common with known ones.
func (f *fit) step(features []uint16, label, rate float64, m *maker) {
	if m.odds(3) {
		features = short(features)
	}
	slope := logistic(f.sum(features)) - label
	for _, i := range features {
		f.squares[i] += float64(slope * slope)
		f.weight[i] -= float64(rate*slope/math.Sqrt(f.squares[i])) + float64(decay*f.weight[i])
	}
}

func short(features []uint16) []uint16 {
	var kept []uint16
	for _, i := range features {
		if i < model.FourGrams || i >= model.Stats {
			kept = append(kept, i)
		}
	}
	return kept
}

func logistic(x float64) float64 { return 1 / (1 + exp(-max(-40, min(x, 40)))) }

// exp is e to the power of x, by its series for a small part of x, raised
// again. math.Exp is assembly on some processors and differs in the last bit;
// the conversions here and elsewhere keep others from fusing operations. So
// training gives the same bytes on every host.
func exp(x float64) float64 {
	const halvings = 12
	x /= 1 << halvings
	sum, term := 1.0, 1.0
	for n := 1.0; n <= 6; n++ {
		term = float64(term * x / n)
		sum += term
	}
	for range halvings {
		sum *= sum
	}
	return sum
}

// quantized rounds a weight to whole steps that fit a byte.
func quantized(w float64) int8 {
	return int8(max(-127, min(127, math.Round(w*model.Unit))))
}
