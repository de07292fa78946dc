// Command train makes core/gibberish/internal/model/model.bin and core/gibberish/names.bin
// from the names and words in core/gibberish/data:
//
//	go run ./core/gibberish/train            trains and writes the model and the filter of names
//	go run ./core/gibberish/train -check     trains and compares with those in use
//	go run ./core/gibberish/train -holdout   trains without one culture or one kind of
//	                                         random string at a time and scores those
//	go run ./core/gibberish/train -people DIR,DIR
//	                                         fits the curve of the model in use to the
//	                                         addresses in git repositories and prints it
//
// The same data give the same bytes on every host. Package main in gather
// collects the data. Start reading with train, below, then real.go and
// random.go, which generate the samples.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core/eval/people"
	"github.com/addrspec/addrspec/core/gibberish/internal/filter"
	"github.com/addrspec/addrspec/core/gibberish/internal/model"
)

func main() {
	dir := flag.String("data", "core/gibberish/data", "directory of names and words")
	out := flag.String("out", "core/gibberish", "directory to write names.bin and internal/model/model.bin to")
	check := flag.Bool("check", false, "write nothing; exit 1 if training gives another model or filter than those in use")
	holdout := flag.Bool("holdout", false, "write nothing; train without each group of cultures and each kind of random string, and print how many of them are flagged")
	samples := flag.Int("samples", 12_000_000, "how many local parts to train on")
	histories := flag.String("people", "", "write nothing; print the curve from sums to probabilities that fits the authors in these git directories (DIR,DIR)")
	flag.Parse()
	if err := run(*dir, *out, *histories, *check, *holdout, *samples); err != nil {
		log.Fatal("train: ", err)
	}
}

func run(dir, out, histories string, check, holdout bool, samples int) error {
	d, err := read(dir)
	if err != nil {
		return err
	}
	if holdout {
		holdOut(d, samples/4)
		return nil
	}
	if histories != "" {
		return calibrate(strings.Split(histories, ","), newGenerator(4, d.lexicon(everything)))
	}
	trained := signed(train(newGenerator(1, d.lexicon(everything)), samples), d.digest)
	for name, content := range map[string]string{
		"names.bin": string(filter.New(d.pronounceable())), "internal/model/model.bin": string(trained),
	} {
		path := filepath.Join(out, name)
		if !check {
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				return err
			}
			continue
		}
		inUse, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if string(inUse) != content {
			return fmt.Errorf("training gives another %s than the one in use: run without -check to replace it", name)
		}
	}
	return nil
}

// train returns the weights, followed by the probabilities by sum.
func train(g *generator, samples int) []byte {
	var f fit
	f.learn(g, samples)
	var trained []byte
	for _, w := range f.weight {
		trained = append(trained, byte(quantized(w)))
	}
	return append(trained, curve(slope, offset)...)
}

// signed appends the version of the model and the digest of its data.
func signed(trained []byte, dataDigest string) []byte {
	trained = append(trained, digestOf(trained)...)
	return append(trained, dataDigest...)
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])[:model.DigestSize]
}

// fit finds the weights by logistic regression: one pass over freshly generated
// samples, with AdaGrad step sizes.
type fit struct {
	weight  [model.TableSize]float64
	squares [model.TableSize]float64
}

const (
	stepSize = 0.05
	outlier  = 0.6 // errors beyond this count less
)

func (f *fit) learn(g *generator, samples int) {
	for i := range f.squares {
		f.squares[i] = 1
	}
	var readings [][]uint32
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
func (f *fit) lower(readings [][]uint32) []uint32 {
	best, least := 0, math.Inf(1)
	for i, r := range readings {
		if s := f.sum(r); s < least {
			best, least = i, s
		}
	}
	return readings[best]
}

func (f *fit) sum(features []uint32) float64 {
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
func (f *fit) step(features []uint32, label, rate float64, g *generator) {
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
func short(features []uint32) []uint32 {
	var kept []uint32
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

// quantized rounds a weight to a whole number of steps that fits in a byte. Small
// weights become 0: they decide little, and the module is smaller without them.
func quantized(w float64) int8 {
	if math.Abs(w*model.Unit) < smallest {
		return 0
	}
	return int8(max(-127, min(127, math.Round(w*model.Unit))))
}

const smallest = 0.62 // in steps

// prior is the share of random local parts that the score assumes: a form that
// bots have found.
const prior = 0.05

// The curve from sums to probabilities. Generated local parts differ less from
// each other than real ones do, so a curve that is fitted to them is too steep.
// These two numbers are all that real addresses decide; -people fits them.
// MODEL.md says to whose addresses.
const (
	slope  = 0.1402
	offset = -1.562
)

// flatness makes the curve flatter around one half. A score has two decimals, and
// of a steeper curve most scores are 0.00: too few are left to sort by.
const flatness = 0.8

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
	fmt.Printf("%d people: slope %.4f, offset %.3f\n", len(found.Named), slope, offset)
	return nil
}

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

// sumOf returns the result of model.Name.Sum with these weights.
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

// heldOutCultures are groups of keys of names, towns and words that are left
// out together: each culture with its neighbours, so that no close relative
// remains in the training data.
var heldOutCultures = []string{
	"vi th lo km my VN TH LA KH MM",
	"ko ja KR KP JP",
	"zh tw hk sg CN TW HK",
	"tr az kk uz ku TR AZ KZ UZ KG TM",
	"gh ng yo ig ha cd mali sn ug rw ke so shona mg am zu za sw st xh tn nso ts ny GH NG SN ML CI BJ TG BF NE GN CM CD CG RW BI UG KE TZ SO ZW ZM MG ET ZA",
	"hy ka el AM GE GR CY",
	"fi et FI EE",
	"lt lv LT LV",
	"ar fa he ps pk AF IR IL EG MA DZ TN LY SD SY LB JO IQ SA YE PK AE KW OM QA",
	"in ta te kn malayalam bn si pa ne np IN BD LK NP PK",
	"uk ru UA RU BY",
	"hu HU", "cy br gd ga GB IE", "eu", "is fo IS FO", "sq AL XK", "pl PL", "mi pac NZ WS TO FJ PF",
	"id ms jv ph tl ID MY PH BN", "mn hmn MN", "inu amer GL PE BO GT",
}

// scored is how many local parts of a left-out group are scored.
const scored = 20_000

// holdOut trains without each group of cultures, then without each kind of
// random string, and prints the percentage of that group that is flagged.
func holdOut(d *data, samples int) {
	for _, group := range heldOutCultures {
		keys := strings.Fields(group)
		inGroup := func(key string) bool { return slices.Contains(keys, key) }
		rest := d.lexicon(func(key string) bool { return !inGroup(key) && key != "us" }) // the census has names of every culture
		trained := train(newGenerator(1, rest), samples)
		flagged := flaggedPercent(trained, newGenerator(3, d.lexicon(inGroup)), person)
		fmt.Printf("culture left out, flagged     %5.2f %%  %s\n", flagged, group)
	}
	all := d.lexicon(everything)
	for i, unseen := range randomKinds {
		g := newGenerator(1, all)
		g.randomKinds = slices.Delete(slices.Clone(randomKinds), i, i+1)
		flagged := flaggedPercent(train(g, samples), newGenerator(3, all), unseen.make)
		fmt.Printf("random kind left out, caught  %5.2f %%  %s\n", flagged, unseen.name)
	}
}

// flaggedPercent returns the percentage of local parts that trained gives a
// probability of one half or more.
func flaggedPercent(trained []byte, g *generator, make func(*generator) string) float64 {
	weights, probabilities := trained[:model.TableSize], trained[model.TableSize:]
	flagged := 0
	for range scored {
		if sum, ok := sumOf(weights, make(g)); ok && probabilities[step(sum)] >= 50 {
			flagged++
		}
	}
	return 100 * float64(flagged) / scored
}
