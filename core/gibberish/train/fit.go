package main

import (
	"math"

	"github.com/addrspec/addrspec/core/gibberish/internal/model"
)

// fit finds the weights by logistic regression: one pass over freshly generated
// samples, with AdaGrad step sizes.
type fit struct {
	weight  [model.TableSize]float64
	squares [model.TableSize]float64
}

const (
	stepSize = 0.08
	outlier  = 0.6 // errors beyond this count less
)

func (f *fit) learn(g *generator, samples int) {
	for i := range f.squares {
		f.squares[i] = 1
	}
	var readings [][]uint16
	for n := range samples {
		name, label := g.sample()
		readings = model.Readings(readings[:0], []byte(name))
		if len(readings) == 0 {
			continue
		}
		rate := stepSize * (1 - float64(n)/float64(samples))
		f.step(f.lower(readings), label, rate, g)
	}
}

// sample returns a generated local part, and 1 if it is random, else 0.
func (g *generator) sample() (string, float64) {
	if g.IntN(5) < 2 {
		return g.random(), 1
	}
	return g.real(), 0
}

// lower returns the reading with the lower sum, which model.Name.Sum also uses.
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

// step moves the weights of one sample against its error. One time in three it
// leaves out the 4-grams and 5-grams, so that the trigrams get useful weights
// of their own: an unknown name shares more trigrams with known names than
// longer sequences.
func (f *fit) step(features []uint16, label, rate float64, g *generator) {
	if g.oneIn(3) {
		features = short(features)
	}
	slope := tempered(logistic(f.sum(features)) - label)
	for _, i := range features {
		f.squares[i] += float64(slope * slope)
		f.weight[i] -= float64(rate * slope / math.Sqrt(f.squares[i]))
	}
}

// tempered shrinks the error of a sample that the weights contradict. Some
// random strings look like names and the reverse; weights that give way to them
// flag more people.
func tempered(err float64) float64 {
	if a := math.Abs(err); a > outlier {
		return float64(err * float64(outlier/a*outlier/a))
	}
	return err
}

// short returns features without the 4-grams and 5-grams.
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

// exp returns e to the power of x: the power series of x/4096, squared 12 times.
// It gives the same bits on every host, unlike math.Exp, which is assembly on
// some processors. For the same reason, conversions to float64 here and
// elsewhere keep the compiler from fusing a multiplication and an addition.
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

// quantized rounds a weight to a whole number of steps that fits in a byte.
func quantized(w float64) int8 {
	return int8(max(-127, min(127, math.Round(w*model.Unit))))
}
