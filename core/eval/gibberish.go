package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core/eval/peers"
	"github.com/addrspec/addrspec/core/eval/people"
	"github.com/addrspec/addrspec/core/gibberish"
)

// hardFloors are the floors of the groups of random strings that imitate words.
var hardFloors = map[string]float64{"hard_english_freq": 36, "hard_name_plus_random": 24.5}

// The score is a probability at this share of random local parts, in a mixture of
// which half is synthetic and half of the forms that relay services make up. Its
// people are synthetic too: see core/gibberish/MODEL.md for real ones.
const (
	statedPrior     = 0.05
	calibrationBins = 15
)

// scored is a group of local parts of one kind, with their scores.
type scored struct {
	group  string
	random bool // the label
	names  []string
	scores []uint8
}

// runGibberish measures the main figures on the negatives without the groups
// digits and utf8 and the positives without the groups hard_*. It measures those
// groups separately.
func runGibberish(dir string) ([]row, error) {
	real, err := scoreFile(filepath.Join(dir, "gibberish/dev_negatives.tsv"), false)
	if err != nil {
		return nil, err
	}
	random, err := scoreFile(filepath.Join(dir, "gibberish/dev_positives.tsv"), true)
	if err != nil {
		return nil, err
	}
	people, hard := part(real, "digits", "utf8"), part(random, "hard_")
	relay := []scored{scoreAll("relay-style", true, relayStyle(2500))}
	mixture := mix(statedPrior, scoresOf(people.main), scoresOf(hard.main), scoresOf(relay))
	worst := worstCulture(people.main)
	rows := []row{
		{check: "gibberish: AUC", figure: auc(scoresOf(people.main), scoresOf(hard.main)), floor: 0.998, target: 0.998},
		{check: "gibberish: random caught, %", figure: percent(hard.main), floor: 90.5, target: 87, wrong: wrong(hard.main)},
		{check: "gibberish: real flagged, %", figure: percent(people.main), floor: 0.15, target: 0.5, lower: true, wrong: wrong(people.main)},
		{check: "gibberish: real flagged, worst culture (" + worst.group + "), %", data: rowsOf("people", len(worst.names)), figure: percent([]scored{worst}), floor: 1, target: 2, lower: true},
		{check: "gibberish: relay-style strings caught, %", data: rowsOf("strings drawn", count(relay)), figure: percent(relay), floor: 90.5, target: 90, wrong: wrong(relay)},
		{check: "gibberish: expected calibration error at 5 % random", data: "people and both kinds of random", figure: calibrationError(calibrationBins, mixture), floor: 0.007, target: 0.01, lower: true},
	}
	for _, g := range people.apart {
		rows = append(rows, row{check: "gibberish: " + g.group + " flagged, %", data: rowsOf("local parts", len(g.names)), figure: percent([]scored{g}), floor: 0, target: 1, lower: true, wrong: wrong([]scored{g})})
	}
	for _, g := range hard.apart { // without target, since many could be names
		rows = append(rows, row{check: "gibberish: " + g.group + " caught, %", data: rowsOf("local parts", len(g.names)), figure: percent([]scored{g}), floor: hardFloors[g.group]})
	}
	for i := range rows {
		if rows[i].data == "" {
			rows[i].data = fmt.Sprintf("%d people, %d random", count(people.main), count(hard.main))
		}
	}
	others := drawOther(500)
	rows = append(rows, row{check: "gibberish: random of another generator caught, %", data: rowsOf("strings drawn", count(others)), figure: percent(others), floor: 88, target: 87, wrong: wrong(others)})
	return append(rows, formRows(people.main)...), nil
}

// scoreFile scores the local parts of a file, whose lines consist of a local part
// and its group, and returns them by group.
func scoreFile(path string, random bool) ([]scored, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var groups []scored
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[1:] {
		name, group, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("%s:%d: no tab", path, i+2)
		}
		at := slices.IndexFunc(groups, func(g scored) bool { return g.group == group })
		if at < 0 {
			at = len(groups)
			groups = append(groups, scored{group: group, random: random})
		}
		plain, _, _ := strings.Cut(name, "+")
		groups[at].names = append(groups[at].names, name)
		groups[at].scores = append(groups[at].scores, gibberish.Score([]byte(plain)))
	}
	return groups, nil
}

type parted struct{ main, apart []scored }

// part separates the groups with one of prefixes at the start of their names.
func part(groups []scored, prefixes ...string) (p parted) {
	for _, g := range groups {
		if slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(g.group, prefix) }) {
			p.apart = append(p.apart, g)
		} else {
			p.main = append(p.main, g)
		}
	}
	return p
}

func count(groups []scored) (n int) {
	for _, g := range groups {
		n += len(g.scores)
	}
	return n
}

// percent returns the percentage of local parts that count as gibberish.
func percent(groups []scored) float64 {
	called := 0
	for _, g := range groups {
		for _, s := range g.scores {
			if s >= 50 {
				called++
			}
		}
	}
	return 100 * float64(called) / float64(count(groups))
}

func worstCulture(groups []scored) (worst scored) {
	for _, g := range groups {
		if strings.HasPrefix(g.group, "name_") && (worst.names == nil || percent([]scored{g}) > percent([]scored{worst})) {
			worst = g
		}
	}
	return worst
}

// scoresOf returns the scores of groups, from 0 to 1.
func scoresOf(groups []scored) (scores []float64) {
	for _, g := range groups {
		for _, s := range g.scores {
			scores = append(scores, float64(s)/100)
		}
	}
	return scores
}

// scoreAll returns the scores of local parts as one group.
func scoreAll(group string, random bool, names []string) scored {
	g := scored{group: group, random: random, names: names}
	for _, name := range names {
		g.scores = append(g.scores, gibberish.Score([]byte(name)))
	}
	return g
}

// wrong lists the rows with a score on the wrong side of 50.
func wrong(groups []scored) (rows []string) {
	for _, g := range groups {
		for i, s := range g.scores {
			if s >= 50 != g.random {
				rows = append(rows, fmt.Sprintf("gibberish\t%s\t%s\t%d", g.group, g.names[i], s))
			}
		}
	}
	return rows
}

// runPeople returns a suite that measures gibberish on the authors and committers
// in the histories of git directories, separated by commas. Its figures vary with
// the repositories, so the floors are twice the targets. It lists no row: the
// addresses are people's.
func runPeople(dirs string) func(string) ([]row, error) {
	return func(dir string) ([]row, error) {
		found, err := people.Read(strings.Split(dirs, ","))
		if err != nil {
			return nil, err
		}
		synthetic, err := scoreFile(filepath.Join(dir, "gibberish/dev_positives.tsv"), true)
		if err != nil {
			return nil, err
		}
		random := [][]float64{
			scoresOf(part(synthetic, "hard_").main),
			scoresOf([]scored{scoreAll("relay-style", true, relayStyle(2500))}),
		}
		return peopleRows(found, random), nil
	}
}

func peopleRows(found people.Histories, random [][]float64) []row {
	named := []scored{scoreAll("named", false, found.Named)}
	provable := []scored{scoreAll("provable", false, found.Provable)}
	relayed := []scored{scoreAll("relayed", true, found.Relayed)}
	ofNamed, ofProvable := rowsOf("named addresses", count(named)), rowsOf("provable people", count(provable))
	rows := []row{
		{check: "people: provable people flagged, %", data: ofProvable, figure: percent(provable), floor: 0.1, target: 0.05, lower: true},
		{check: "people: all named flagged, %", data: ofNamed, figure: percent(named), floor: 0.7, target: 0.35, lower: true},
		{check: "people: calibration error, provable people", data: ofProvable, floor: 0.02, target: 0.01, lower: true,
			figure: calibrationError(calibrationBins, mix(statedPrior, scoresOf(provable), random...))},
		{check: "people: calibration error, all named", data: ofNamed, floor: 0.02, target: 0.01, lower: true,
			figure: calibrationError(calibrationBins, mix(statedPrior, scoresOf(named), random...))},
	}
	if found.Unclassed > 0 {
		rows = append(rows, row{check: "people: at domains without a class with the form of a service, %", data: rowsOf("named addresses", found.Unclassed),
			figure: 100 * float64(found.Generated) / float64(found.Unclassed), floor: 0.04, target: 0.02, lower: true})
	}
	if count(relayed) > 0 {
		rows = append(rows, row{check: "people: addresses at relay services caught, %",
			data: fmt.Sprint(count(relayed), " addresses"), figure: percent(relayed), target: 90})
	}
	return rows
}

// relayStyles are the forms of the local parts that relay services and messengers
// make up: the characters and the length.
var relayStyles = []struct {
	name, alphabet string
	length         int
}{
	{"Apple, 10 characters", "bcdfghjkmnpqrstvwxyz2456789", 10},
	{"base 36, 8 characters", "abcdefghijklmnopqrstuvwxyz0123456789", 8},
	{"base 36, 9 characters", "abcdefghijklmnopqrstuvwxyz0123456789", 9},
	{"hexadecimal, 8 characters", "0123456789abcdef", 8},
}

// relayStyle generates n strings of each form, the same each time. Eight digits of
// the hexadecimal form are left out: digits alone are not gibberish.
func relayStyle(n int) (names []string) {
	random := rand.New(rand.NewPCG(12, 2026))
	for _, style := range relayStyles {
		for left := n; left > 0; {
			if name := draw(random, style.alphabet, style.length); !digitsOnly(name) {
				names = append(names, name)
				left--
			}
		}
	}
	return names
}

func draw(random *rand.Rand, alphabet string, length int) string {
	name := make([]byte, length)
	for i := range name {
		name[i] = alphabet[random.IntN(len(alphabet))]
	}
	return string(name)
}

func digitsOnly(name string) bool {
	for _, c := range name {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// auc returns the area under the ROC curve: the probability that a random string has
// a higher score than a person's, where a tie counts half.
func auc(people, random []float64) float64 {
	sorted := slices.Sorted(slices.Values(people))
	higher := 0.0
	for _, score := range random {
		below, _ := slices.BinarySearch(sorted, score)
		notAbove, _ := slices.BinarySearchFunc(sorted, score, func(p, s float64) int {
			if p <= s {
				return -1
			}
			return 1
		})
		higher += float64(below+notAbove) / 2
	}
	return higher / float64(len(people)) / float64(len(random))
}

// caughtAt returns the share of random strings that are flagged at the lowest
// threshold at which at most the given share of people is flagged.
func caughtAt(share float64, people, random []float64) float64 {
	descending := slices.SortedFunc(slices.Values(people), func(a, b float64) int { return cmp.Compare(b, a) })
	flagged := min(int(share*float64(len(people))+1e-9), len(people)-1)
	caught := 0
	for _, score := range random {
		if score > descending[flagged] {
			caught++
		}
	}
	return float64(caught) / float64(len(random))
}

// weighted is a scored row of a mixture.
type weighted struct {
	score  float64 // 0 to 1
	random bool
	weight float64 // the weights of a mixture add up to 1
}

// mix returns rows so that the random ones have the share prior of the weight. Each
// kind of random strings has an equal part of that.
func mix(prior float64, people []float64, random ...[]float64) (rows []weighted) {
	for _, score := range people {
		rows = append(rows, weighted{score, false, (1 - prior) / float64(len(people))})
	}
	for _, kind := range random {
		for _, score := range kind {
			rows = append(rows, weighted{score, true, prior / float64(len(random)) / float64(len(kind))})
		}
	}
	return rows
}

// calibrationError returns the expected calibration error: the difference between
// score and share of random strings in equal bins of scores, averaged by the weight
// of the bins.
func calibrationError(bins int, rows []weighted) (sum float64) {
	excess := make([]float64, bins)
	for _, r := range rows {
		difference := r.score
		if r.random {
			difference--
		}
		excess[min(int(r.score*float64(bins)), bins-1)] += r.weight * difference
	}
	for _, e := range excess {
		sum += math.Abs(e)
	}
	return sum
}

func compareGibberish(dir string) (*comparison, error) {
	c := &comparison{title: "gibberish", question: peers.Random,
		note: "generated local parts of people and random strings (tuned on); a row without a result counts as not flagged",
		own: func(name string) peers.Result {
			score := gibberish.Score([]byte(name))
			return peers.Result{Yes: score >= 50, Score: float64(score)}
		},
	}
	people, err := readColumns(filepath.Join(dir, "gibberish", "dev_negatives.tsv"), "local_part", "group")
	if err != nil {
		return nil, err
	}
	random, err := readColumns(filepath.Join(dir, "gibberish", "dev_positives.tsv"), "local_part", "group")
	c.addGibberish("people", people)
	c.addGibberish("random", random)
	for _, name := range relayStyle(500) {
		c.examples = append(c.examples, example{value: name, group: "relay"})
	}
	c.addCurve()
	c.percent("relay-style caught", "relay", saysYes)
	return c, err
}

// addCurve adds the columns that people and random strings decide together.
func (c *comparison) addCurve() {
	c.columns = append(c.columns, column{"AUC", func(c *comparison, results, _ []peers.Result) string {
		return fmt.Sprintf("%.4f", auc(c.scores(results, "people"), c.scores(results, "random")))
	}})
	c.percent("people flagged", "people", saysYes)
	c.percent("random caught", "random", saysYes)
	c.columns = append(c.columns, column{"caught where as many people are flagged as by addrspec, %", func(c *comparison, results, ours []peers.Result) string {
		flagged, rows := c.count(ours, "people", saysYes)
		return c.caughtAt(float64(flagged)/float64(rows), results)
	}})
	c.columns = append(c.columns, column{"caught where 1 % of people are flagged, %", func(c *comparison, results, _ []peers.Result) string {
		return c.caughtAt(.01, results)
	}})
}

func (c *comparison) caughtAt(flagged float64, results []peers.Result) string {
	return share(caughtAt(flagged, c.scores(results, "people"), c.scores(results, "random")))
}

// addGibberish adds the rows of the main figure, without their tags.
func (c *comparison) addGibberish(label string, rows [][]string) {
	for _, fields := range rows {
		if fields[1] == "digits" || fields[1] == "utf8" || strings.HasPrefix(fields[1], "hard_") {
			continue
		}
		name, _, _ := strings.Cut(fields[0], "+")
		c.examples = append(c.examples, example{value: name, group: label})
	}
}

// scores returns the scores of a group. A row without a result is not flagged at any
// threshold.
func (c *comparison) scores(results []peers.Result, group string) (scores []float64) {
	for i, x := range c.examples {
		if x.group != group {
			continue
		}
		score := results[i].Score
		if results[i].None != "" {
			score = math.Inf(-1)
		}
		scores = append(scores, score)
	}
	return scores
}
