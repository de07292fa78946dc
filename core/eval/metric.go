package main

import (
	"cmp"
	"math"
	"slices"
)

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
