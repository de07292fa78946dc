package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core/gibberish"
)

// hardFloors are the floors of the groups of random strings that imitate words.
var hardFloors = map[string]float64{"hard_english_freq": 36, "hard_name_plus_random": 24.5}

// The score is a probability at this share of random local parts. Half of them are synthetic and
// half of the forms that relay services make up. The people are synthetic too: see
// core/gibberish/MODEL.md for real ones.
const statedPrior = 0.05

// scored is a local part with its score.
type scored struct {
	name, group string
	random      bool // the label
	score       uint8
}

func score(name, group string, random bool) scored {
	plain, _, _ := strings.Cut(name, "+")
	return scored{name, group, random, gibberish.Score([]byte(plain))}
}

func scoreAll(random bool, rows [][]string) (all []scored) {
	for _, fields := range rows {
		all = append(all, score(fields[0], fields[1], random))
	}
	return all
}

// part separates the groups with one of prefixes at the start of their names.
func part(all []scored, prefixes ...string) (main, apart []scored) {
	for _, s := range all {
		if slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(s.group, prefix) }) {
			apart = append(apart, s)
		} else {
			main = append(main, s)
		}
	}
	return main, apart
}

// groups returns the local parts of each group, in the order of the file.
func groups(all []scored) (groups [][]scored) {
	at := map[string]int{}
	for _, s := range all {
		i, known := at[s.group]
		if !known {
			i = len(groups)
			at[s.group] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	return groups
}

func flagged(all []scored) (rows []judged) {
	for _, s := range all {
		got, right := fmt.Sprint(s.score), s.score >= 50 == s.random
		rows = append(rows, judged{s.group + " " + s.name, yes(s.random), got, right})
	}
	return rows
}

// evalGibberish measures the main figures on people without the groups digits and utf8 and on
// random strings without the groups hard_*, and those groups each for itself.
func evalGibberish(d *data) []row {
	people, peopleApart := part(d.people, "digits", "utf8")
	random, hard := part(d.random, "hard_")
	relay := relayStyle(2500)
	var others []scored
	drawing := rand.New(rand.NewPCG(29, 11))
	for _, kind := range otherRandom {
		others = append(others, drawScored(500, kind.name, func() string { return kind.draw(drawing) })...)
	}
	tempMail, numbered := tempMailForms(people)
	rows := []row{
		atLeast("gibberish: AUC", 0.998, 0.998),
		atLeast("gibberish: random caught, %", 90.5, 87).of("", flagged(random)),
		atMost("gibberish: real flagged, %", 0.15, 0.5).of("", flagged(people)),
	}
	rows[0].figure = auc(scores(people), scores(random))
	for i := range rows {
		rows[i].data = fmt.Sprintf("%d people, %d random", len(people), len(random))
	}
	var worst row
	for _, g := range groups(people) {
		r := atMost("gibberish: real flagged, worst culture ("+g[0].group+"), %", 1, 2).of("people", flagged(g))
		if strings.HasPrefix(g[0].group, "name_") && (worst.check == "" || r.figure > worst.figure) {
			worst = r
		}
	}
	calibration := atMost("gibberish: expected calibration error at 5 % random", 0.007, 0.01)
	calibration.data = "people and both kinds of random"
	calibration.figure = calibrationError(statedPrior, scores(people), scores(random), scores(relay))
	rows = append(rows, worst,
		atLeast("gibberish: relay-style strings caught, %", 90.5, 90).of("strings drawn", flagged(relay)), calibration)
	for _, g := range groups(peopleApart) {
		rows = append(rows, atMost("gibberish: "+g[0].group+" flagged, %", 0, 1).of("local parts", flagged(g)))
	}
	for _, g := range groups(hard) { // without target and list, since many could be names
		r := atLeast("gibberish: "+g[0].group+" caught, %", hardFloors[g[0].group], 0).of("local parts", flagged(g))
		r.wrong = nil
		rows = append(rows, r)
	}
	return append(rows,
		atLeast("gibberish: random of another generator caught, %", 88, 87).of("strings drawn", flagged(others)),
		atLeast("gibberish: temp-mail.org's form caught, %", 97, 95).of("addresses drawn", flagged(tempMail)),
		atLeast("gibberish: names with a number in this form not flagged, %", 82, 0).of("names", flagged(numbered)))
}

func scores(all []scored) (scores []float64) {
	for _, s := range all {
		scores = append(scores, float64(s.score)/100)
	}
	return scores
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

// calibrationError returns the expected calibration error: the difference between score and share
// of random strings in equal bins of scores, averaged by the weight of the bins. The random
// strings have the share prior of the weight, each kind of them an equal part.
func calibrationError(prior float64, people []float64, random ...[]float64) (sum float64) {
	const bins = 15
	var excess [bins]float64
	add := func(scores []float64, share, label float64) {
		weight := share / float64(len(scores))
		for _, score := range scores {
			excess[min(int(score*bins), bins-1)] += weight * (score - label)
		}
	}
	add(people, 1-prior, 0)
	for _, kind := range random {
		add(kind, prior/float64(len(random)), 1)
	}
	for _, e := range excess {
		sum += math.Abs(e)
	}
	return sum
}
