package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAUCOfAnExampleByHand(t *testing.T) {
	people := []float64{.1, .2, .5, .5}
	random := []float64{.5, .9, .1}
	// .5 is above two and ties with two: 3. .9 is above all: 4. .1 ties with one: .5.
	require.InDelta(t, (3+4+.5)/12, auc(people, random), 1e-12)
}

func TestAUCOfExtremes(t *testing.T) {
	require.Equal(t, 1.0, auc([]float64{1, 2}, []float64{3, 4}))
	require.Equal(t, 0.0, auc([]float64{3, 4}, []float64{1, 2}))
	require.Equal(t, 0.5, auc([]float64{1, 1, 1}, []float64{1, 1}))
	require.Equal(t, 0.75, auc([]float64{math.Inf(-1), 0}, []float64{0}))
}

func TestCaughtAtTheSameFlaggedShare(t *testing.T) {
	people := []float64{1, 2, 3, 4}
	random := []float64{2, 3.5, 4, 5}
	require.Equal(t, .25, caughtAt(0, people, random))   // above 4
	require.Equal(t, .75, caughtAt(.25, people, random)) // above 3: one of four people
	require.Equal(t, .75, caughtAt(.49, people, random)) // no more than that
	require.Equal(t, .75, caughtAt(.5, people, random))
	require.Equal(t, 1.0, caughtAt(1, people, random[1:]))
}

func TestCaughtAtDoesNotSplitTies(t *testing.T) {
	require.Equal(t, 0.0, caughtAt(.5, []float64{1, 1, 1, 0}, []float64{1, 1}))
}

func TestMixHasThePriorInEqualParts(t *testing.T) {
	rows := mix(.08, []float64{0, 0}, []float64{1}, []float64{1, 1, 1, 1})
	weight := map[float64]int{}
	for _, r := range rows {
		weight[math.Round(r.weight*1e6)/1e6]++
	}
	require.Equal(t, map[float64]int{.46: 2, .04: 1, .01: 4}, weight)
}

func TestCalibrationErrorOfAnExampleByHand(t *testing.T) {
	rows := []weighted{
		{.1, false, .4}, {.15, true, .1}, // bin 0: .04 + .015 predicted, .1 random: .045
		{.9, true, .3}, {1, false, .2}, // bin 4: .27 + .2 predicted, .3 random: .17
	}
	require.InDelta(t, .045+.17, calibrationError(5, rows), 1e-12)
	require.InDelta(t, 0, calibrationError(15, []weighted{{.25, true, .25}, {.25, false, .75}}), 1e-12)
}
