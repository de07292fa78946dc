package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/addrspec/addrspec/core/gibberish"
)

// hardFloors are the floors of the groups of random strings that imitate words.
var hardFloors = map[string]float64{"hard_english_freq": 50, "hard_name_plus_random": 55, "hard_reversed": 3}

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
	main := append(slices.Clone(people.main), hard.main...)
	worst := worstCulture(people.main)
	rows := []row{
		{check: "gibberish: AUC", figure: auc(people.main, hard.main), floor: 0.999, target: 0.998, peer: "0.998 5-gram ratio"},
		{check: "gibberish: random caught, %", figure: percent(hard.main), floor: 96.5, target: 95, peer: "99 5-gram ratio (flags 2.6)", wrong: wrong(hard.main)},
		{check: "gibberish: real flagged, %", figure: percent(people.main), floor: 0.25, target: 0.5, lower: true, peer: "1.6 Nostril (catches 65)", wrong: wrong(people.main)},
		{check: "gibberish: real flagged, worst culture (" + worst.group + "), %", figure: percent([]scored{worst}), floor: 1, target: 2, lower: true, peer: "6.5 5-gram ratio, unseen culture"},
		{check: "gibberish: expected calibration error", figure: calibrationError(main), floor: 0.012, target: 0.03, lower: true},
	}
	for _, g := range people.apart {
		rows = append(rows, row{check: "gibberish: " + g.group + " flagged, %", figure: percent([]scored{g}), floor: 0, target: 1, lower: true, wrong: wrong([]scored{g})})
	}
	for _, g := range hard.apart { // without target, since many could be names
		rows = append(rows, row{check: "gibberish: " + g.group + " caught, %", figure: percent([]scored{g}), floor: hardFloors[g.group]})
	}
	for i := range rows {
		rows[i].data = fmt.Sprintf("gibberish dev %d/%d", count(people.main), count(hard.main))
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

// auc returns the area under the ROC curve: the probability that a random local
// part has a higher score than a real one, where a tie counts half.
func auc(real, random []scored) float64 {
	var below, higher float64
	reals, randoms := histogram(real), histogram(random)
	for s := range reals {
		higher += randoms[s] * (below + reals[s]/2)
		below += reals[s]
	}
	return higher / below / float64(count(random))
}

func histogram(groups []scored) (h [101]float64) {
	for _, g := range groups {
		for _, s := range g.scores {
			h[s]++
		}
	}
	return h
}

// calibrationError returns the expected calibration error: the difference between
// the scores and the share of random local parts, in ten equal bins of scores,
// averaged by the size of the bins.
func calibrationError(groups []scored) float64 {
	var predicted, actual [10]float64
	for _, g := range groups {
		for _, s := range g.scores {
			bin := min(int(s)/10, 9)
			predicted[bin] += float64(s) / 100
			if g.random {
				actual[bin]++
			}
		}
	}
	sum := 0.0
	for bin := range actual {
		sum += math.Abs(predicted[bin] - actual[bin])
	}
	return sum / float64(count(groups))
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
