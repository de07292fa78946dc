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
	stepSize = 0.05
	outlier  = 0.6  // errors beyond this count less
	smallest = 0.62 // steps of a weight; smaller ones become 0
)

// train returns the weights, followed by the probabilities by sum.
func train(g *generator, samples int) (trained []byte) {
	var f fit
	for i := range f.squares {
		f.squares[i] = 1
	}
	var readings [][]uint32
	for n := range samples {
		kinds, shortest, label := realKinds, 2, 0.0
		if g.IntN(5) < 2 {
			kinds, shortest, label = randomKinds, 3, 1
		}
		readings = model.Readings(readings[:0], []byte(g.localPart(kinds, shortest)))
		if len(readings) > 0 {
			f.step(readings, label, stepSize*(1-float64(n)/float64(samples)), g)
		}
	}
	// Small weights become 0: they decide little, and the module is smaller without them.
	for _, w := range f.weight {
		inUnits := float64(w * model.Unit)
		if math.Abs(inUnits) < smallest {
			inUnits = 0
		}
		trained = append(trained, byte(int8(max(-127, min(127, math.Round(inUnits))))))
	}
	for i := range steps { // the probability, in hundredths, of each sum
		odds := float64(slope*float64(i-steps/2)) + offset
		trained = append(trained, byte(math.Round(100*logistic(float64(flatness*odds)))))
	}
	return trained
}

// step moves the weights of the reading with the lower sum, which model.Name.Sum also
// uses, against its error. One time in three it leaves out the 4-grams and 5-grams, so
func (f *fit) step(readings [][]uint32, label, rate float64, g *generator) {
	features := readings[0]
	for _, other := range readings[1:] {
		if f.sum(other) < f.sum(features) {
			features = other
		}
	}
	if g.oneIn(3) {
		var short []uint32
		for _, i := range features {
			if i < model.FourGrams || i >= model.Stats {
				short = append(short, i)
			}
		}
		features = short
	}
	// The error of a sample that the weights contradict is made smaller. Some random strings
	// look like names and the reverse; weights that adapt to them flag more people.
	slope := logistic(f.sum(features)) - label
	if a := math.Abs(slope); a > outlier {
		slope = float64(slope * float64(outlier/a*outlier/a))
	}
	for _, i := range features {
		f.squares[i] += float64(slope * slope)
		f.weight[i] -= float64(rate * slope / math.Sqrt(f.squares[i]))
	}
}

func (f *fit) sum(features []uint32) float64 {
	s := 0.0
	for _, i := range features {
		s += f.weight[i]
	}
	return s
}

func logistic(x float64) float64 { return 1 / (1 + exp(-max(-40, min(x, 40)))) }

// exp returns e to the power of x: the power series of x/4096, squared 12 times. It
// gives the same bits on every host, unlike math.Exp, which is assembly on some
// processors. For the same reason, conversions to float64 here and elsewhere keep the
// compiler from fusing a multiplication and an addition.
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

// The curve from sums to probabilities. Generated local parts differ less from each other than
// real ones do, so a curve that is fitted to them is too steep. slope and offset are all that
// real addresses decide: MODEL.md says whose. flatness makes the curve flatter around one half:
// of a steeper curve most two-digit scores are 0.00, too few to sort by.
const (
	slope    = 0.1402
	offset   = -1.562
	flatness = 0.8
	steps    = 2 * model.Reach / model.Grain // entries in the table of probabilities
)

// step returns the index of a sum's probability.
func step(sum int) int {
	return (max(-model.Reach, min(sum, model.Reach-1)) + model.Reach) / model.Grain
}
