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

// hardFloors are for strings made to look like words.
var hardFloors = map[string]float64{"hard_english_freq": 50, "hard_name_plus_random": 55, "hard_reversed": 3}

// scored is a group of local parts of one make with the scores they got.
type scored struct {
	group  string
	random bool // the label
	names  []string
	scores []uint8
}

// gibberishRows measures the main figures on negatives without digits and
// utf8 against positives without hard_*, and each of those groups apart.
func gibberishRows(dir string) ([]row, error) {
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
	for _, g := range hard.apart { // no target: many could be names
		rows = append(rows, row{check: "gibberish: " + g.group + " caught, %", figure: percent([]scored{g}), floor: hardFloors[g.group]})
	}
	for i := range rows {
		rows[i].data = fmt.Sprintf("gibberish dev %d/%d", count(people.main), count(hard.main))
	}
	return rows, nil
}

// scoreFile scores the local parts of a file of name and group, by group.
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

// part sets apart the groups whose names start so.
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

// percent is how many of all are called gibberish.
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

// auc is the probability that a random local part scores above a real one, a
// tie counting half.
func auc(real, random []scored) float64 {
	var below, won float64
	reals, randoms := histogram(real), histogram(random)
	for s := range reals {
		won += randoms[s] * (below + reals[s]/2)
		below += reals[s]
	}
	return won / below / float64(count(random))
}

func histogram(groups []scored) (h [101]float64) {
	for _, g := range groups {
		for _, s := range g.scores {
			h[s]++
		}
	}
	return h
}

// calibrationError is by how much scores differ from how often they are
// right, averaged over ten equal bins of scores by their size.
func calibrationError(groups []scored) float64 {
	var promised, held [10]float64
	for _, g := range groups {
		for _, s := range g.scores {
			bin := min(int(s)/10, 9)
			promised[bin] += float64(s) / 100
			if g.random {
				held[bin]++
			}
		}
	}
	sum := 0.0
	for bin := range held {
		sum += math.Abs(promised[bin] - held[bin])
	}
	return sum / float64(count(groups))
}

// wrong lists the rows on the wrong side of one half.
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
