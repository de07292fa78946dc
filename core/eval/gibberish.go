package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core/gibberish"
)

// hardFloors are the floors of the groups of random strings that imitate words.
var hardFloors = map[string]float64{"hard_english_freq": 36, "hard_name_plus_random": 24.5}

// The score is a probability at this share of random local parts, in a mixture of which half is
// synthetic and half of the forms that relay services make up. Its people are synthetic too: see
// core/gibberish/MODEL.md for real ones.
const (
	statedPrior     = 0.05
	calibrationBins = 15
)

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

// scoreAll scores rows of a local part and its group.
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

// flagged judges whether the local parts count as gibberish as their label says.
func flagged(all []scored) (rows []judged) {
	for _, s := range all {
		rows = append(rows, judged{s.group + " " + s.name, yes(s.random), fmt.Sprint(s.score), s.score >= 50 == s.random})
	}
	return rows
}

// evalGibberish measures the main figures on people without the groups digits and utf8 and on
// random strings without the groups hard_*, and those groups each for itself.
func evalGibberish(d *data) []row {
	people, peopleApart := part(d.people, "digits", "utf8")
	random, hard := part(d.random, "hard_")
	relay, others := relayStyle(2500), drawOther(500)
	tempMail, numbered := tempMailForms(people)
	mixture := mix(statedPrior, scores(people), scores(random), scores(relay))
	rows := []row{
		{check: "gibberish: AUC", figure: auc(scores(people), scores(random)), floor: 0.998, target: 0.998},
		row{check: "gibberish: random caught, %", floor: 90.5, target: 87}.of("", flagged(random)),
		row{check: "gibberish: real flagged, %", floor: 0.15, target: 0.5, lower: true}.of("", flagged(people)),
	}
	for i := range rows {
		rows[i].data = fmt.Sprintf("%d people, %d random", len(people), len(random))
	}
	var worst row
	for _, g := range groups(people) {
		r := row{check: "gibberish: real flagged, worst culture (" + g[0].group + "), %", floor: 1, target: 2, lower: true}.
			of("people", flagged(g))
		if strings.HasPrefix(g[0].group, "name_") && (worst.check == "" || r.figure > worst.figure) {
			worst = r
		}
	}
	rows = append(rows, worst,
		row{check: "gibberish: relay-style strings caught, %", floor: 90.5, target: 90}.of("strings drawn", flagged(relay)),
		row{check: "gibberish: expected calibration error at 5 % random", data: "people and both kinds of random",
			figure: calibrationError(calibrationBins, mixture), floor: 0.007, target: 0.01, lower: true})
	for _, g := range groups(peopleApart) {
		rows = append(rows, row{check: "gibberish: " + g[0].group + " flagged, %", target: 1, lower: true}.of("local parts", flagged(g)))
	}
	for _, g := range groups(hard) { // without target and list, since many could be names
		r := row{check: "gibberish: " + g[0].group + " caught, %", floor: hardFloors[g[0].group]}.of("local parts", flagged(g))
		r.wrong = nil
		rows = append(rows, r)
	}
	return append(rows,
		row{check: "gibberish: random of another generator caught, %", floor: 88, target: 87}.of("strings drawn", flagged(others)),
		row{check: "gibberish: temp-mail.org's form caught, %", floor: 97, target: 95}.of("addresses drawn", flagged(tempMail)),
		row{check: "gibberish: names with a number in this form not flagged, %", floor: 82}.of("names", flagged(numbered)))
}

// scores returns the scores from 0 to 1.
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
