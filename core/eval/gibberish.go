package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core/gibberish"
)

// hardFloors are the floors of the groups of random strings that imitate words.
var hardFloors = map[string]float64{"hard_english_freq": 44, "hard_name_plus_random": 31}

// The score is a probability at this share of random local parts, in a mixture of
// which half is synthetic and half of the forms that relay services make up. Its
// people are synthetic too: see core/gibberish/MODEL.md for real ones.
const (
	statedPrior     = 0.075
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
		{check: "gibberish: random caught, %", figure: percent(hard.main), floor: 93, target: 93, wrong: wrong(hard.main)},
		{check: "gibberish: real flagged, %", figure: percent(people.main), floor: 0.15, target: 0.5, lower: true, wrong: wrong(people.main)},
		{check: "gibberish: real flagged, worst culture (" + worst.group + "), %", data: rowsOf("people", len(worst.names)), figure: percent([]scored{worst}), floor: 1, target: 2, lower: true},
		{check: "gibberish: relay-style strings caught, %", data: rowsOf("strings drawn", count(relay)), figure: percent(relay), floor: 91, target: 90, wrong: wrong(relay)},
		{check: "gibberish: expected calibration error at 7.5 % random", data: "people and both kinds of random", figure: calibrationError(calibrationBins, mixture), floor: 0.007, target: 0.01, lower: true},
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
	return rows, nil
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

// part separates the groups whose names begin with one of prefixes.
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

// wrong lists the rows whose score is on the wrong side of 50.
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
