package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/addrspec/addrspec/core"
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
	for _, w := range f.weight {
		trained = append(trained, byte(quantized(w)))
	}
	return append(trained, curve(slope, offset)...)
}

// step moves the weights of the reading with the lower sum, which model.Name.Sum also
// uses, against its error. One time in three it leaves out the 4-grams and 5-grams, so
// that the trigrams get useful weights of their own: an unknown name shares more trigrams
// with known names than longer sequences.
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
	slope := tempered(logistic(f.sum(features)) - label)
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

// tempered shrinks the error of a sample that the weights contradict. Some random
// strings look like names and the reverse; weights that give way to them flag more people.
func tempered(err float64) float64 {
	if a := math.Abs(err); a > outlier {
		return float64(err * float64(outlier/a*outlier/a))
	}
	return err
}

// quantized rounds a weight to a whole number of steps that fits in a byte. Small
// weights become 0: they decide little, and the module is smaller without them.
func quantized(w float64) int8 {
	if math.Abs(w*model.Unit) < smallest {
		return 0
	}
	return int8(max(-127, min(127, math.Round(w*model.Unit))))
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

// The curve from sums to probabilities. Generated local parts differ less from each
// other than real ones do, so a curve that is fitted to them is too steep. slope and
// offset are all that real addresses decide: MODEL.md says whose. prior is the share of
// random local parts that the score assumes. flatness makes the curve flatter around one
// half: of a steeper curve most two-digit scores are 0.00, too few to sort by.
const (
	slope    = 0.1402
	offset   = -1.562
	prior    = 0.05
	flatness = 0.8
	steps    = 2 * model.Reach / model.Grain // entries in the table of probabilities
)

// curve returns the probability, in hundredths, of each sum.
func curve(slope, offset float64) []byte {
	table := make([]byte, steps)
	for i := range table {
		odds := float64(slope*float64(i-steps/2)) + offset
		table[i] = byte(math.Round(100 * logistic(float64(flatness*odds))))
	}
	return table
}

// step returns the index of a sum's probability.
func step(sum int) int {
	return (max(-model.Reach, min(sum, model.Reach-1)) + model.Reach) / model.Grain
}

// fitToPeople prints the curve that fits people's addresses, one a line, and generated
// random strings, half of them of the kinds that relay services draw. Addresses with a
// role are left out.
func fitToPeople(addresses io.Reader) error {
	people := map[string]bool{}
	lines := bufio.NewScanner(addresses)
	for lines.Scan() {
		address := strings.ToLower(lines.Text())
		if f := core.Check(address); f.Valid && f.Role == core.NoRole {
			people[address] = true
		}
	}
	l, err := read(directory + "/data")
	if err != nil {
		return err
	}
	const drawn = 100_000
	var real, random [steps]float64
	count := func(at *[steps]float64, local string, weight float64) {
		if sum, ok := new(model.Name).Sum([]byte(local)); ok {
			at[step(sum)] += weight
		}
	}
	for address := range people {
		local, _, _ := strings.Cut(address[:strings.LastIndexByte(address, '@')], "+")
		count(&real, local, (1-prior)/float64(len(people)))
	}
	g := newGenerator(4, l)
	for range drawn {
		count(&random, g.localPart(randomKinds, 3), prior/2/drawn)
		count(&random, g.localPart(relayKinds, 3), prior/2/drawn)
	}
	slope, offset := platt(&real, &random)
	fmt.Printf("%d people: slope %.4f, offset %.3f\n", len(people), slope, offset)
	return lines.Err()
}

// platt fits a logistic curve to weights by step (Platt scaling), by Newton's method.
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
