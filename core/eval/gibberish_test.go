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

func TestCalibrationErrorOfAnExampleByHand(t *testing.T) {
	// At 40 % random, people weigh .3 each, the kinds of random strings .2. Of scores .1 there is
	// .3 * .1 - .2 * .9 too much, of .9 .2 * .1 too little, of 1 .3 too much.
	require.InDelta(t, .15+.02+.3, calibrationError(.4, []float64{.1, 1}, []float64{.1}, []float64{.9, .9}), 1e-12)
	require.InDelta(t, 0, calibrationError(.25, []float64{.25, .25}, []float64{.25}), 1e-12)
}

func TestTempMailForms(t *testing.T) {
	drawn, numbered := tempMailForms([]scored{{name: "maria.lopez", group: "name_x"}, {name: "maria", group: "name_x"},
		{name: "bo.tokaze", group: "name_x"}, {name: "mariajane", group: "name_x"}, {name: "sabudek", group: "handle"}})
	for _, s := range drawn {
		require.Regexp(t, `^([b-df-hj-np-tv-z][aeiou])+[b-df-hj-np-tv-z]?[0-9]{3,5}$`, s.name)
		require.Len(t, s.name, 10)
	}
	require.Len(t, numbered, 2)
	require.Regexp(t, `^lopez\d{5}$`, numbered[0].name)
	require.Regexp(t, `^tokaze\d{4}$`, numbered[1].name)
}
